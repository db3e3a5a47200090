#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/flags.h"
#include "program/strace_space.h"
#include "program/strace_statement.h"

/// What the statements of a log's calls are made with: strace_space.cpp and strace_mapping_calls.cpp alone include it.
namespace faultline::program {

/// The whole pages that a range of bytes touches; nothing when it wraps around.
inline std::optional<Range> pages_of(std::uint64_t start, std::uint64_t bytes) {
  if (bytes == 0) return Range::of(Addr{start}.page_floor(), 0);
  constexpr std::uint64_t kHighest = std::numeric_limits<std::uint64_t>::max() - kPageSize;
  if (start > kHighest || bytes > kHighest - start) return std::nullopt;
  return Range{Addr{start}.page_floor(), Addr{page_ceil(start + bytes)}};
}

/// What a call gives back that is no address: 0, or what a log claims instead.
inline SpelledArgument status(std::uint64_t value) {
  return {value, value == 0 ? Spelling::number : Spelling::address};
}

constexpr std::uint64_t bits(MapFlags flags) { return std::to_underlying(flags); }

/// A call and where it goes.
struct RecordedSpace::Context {
  Sys sys;
  const RecordedCall& call;
  Position position;
  StraceTally& tally;
  std::vector<std::string>& slots;

  std::uint64_t argument(std::size_t i) const { return call.arguments[i]; }
  bool succeeded() const { return call.result.value.has_value(); }
  std::uint64_t value() const { return *call.result.value; }
  int error() const { return call.result.error->value; }
  /// A variable of the program. It names a string of `slots`, so it is for use before that grows.
  SpelledArgument variable(std::uint64_t slot) const { return {slot, Spelling::variable, slots[slot]}; }
};

}  // namespace faultline::program
