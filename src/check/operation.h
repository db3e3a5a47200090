#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/flags.h"
#include "base/page.h"
#include "program/syscall.h"

/// Random programs, as the checker makes, plays and shrinks them.
namespace faultline::check {

/// Where they work: a few pages, the same again and again, at addresses that no machine's process uses for itself.
inline constexpr std::uint64_t kArenaPages = 16;
inline constexpr Range kArena = Range::of(Addr{0x200000000}, kArenaPages* kPageSize);

/// A value, and how a person would write it.
struct Argument {
  std::uint64_t value = 0;
  std::string text;
};

enum class OperationKind : std::uint8_t {
  call,
  access,
  fork,  // a child that lives on, or ends at once when it has no name
  exit,  // of a child that lives
};

struct Operation {
  OperationKind kind{};
  program::Sys sys{};               // of a call
  std::vector<Argument> arguments;  // of a call; of an access its address
  AccessKind access{};              // of an access
  std::string child;                // of fork and exit
  std::vector<Operation> body;      // of fork: what the child does first
};

/// One program: what one fresh process does.
using Case = std::vector<Operation>;

/// The operation as a program says it, without its result: "munmap(0x200001000, 2 * PAGE)".
std::string text_of(const Operation& operation);

}  // namespace faultline::check
