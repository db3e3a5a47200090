#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flags.h"
#include "base/page.h"
#include "program/syscall.h"

/// Cases: straight programs of few steps, many of which a machine plays in one go, each in a process of its own. What
/// the checker draws. A step has constant arguments, so that nothing has to be parsed or evaluated where it is played.
namespace faultline::run {

enum class StepKind : std::uint8_t {
  call,
  access,
  place_code,  // writes a return to the page, so that it can be fetched from
  fork,        // the next `body` steps are the child's
  exit,        // of a child that lives
  fill,        // mappings of a page each from an address on, until only so many more are allowed (max_map_count)
};

struct CaseStep {
  StepKind kind{};
  program::Sys sys{};      // of a call
  AccessKind access{};     // of an access
  std::uint8_t count = 0;  // arguments of a call
  std::uint8_t child = 0;  // of fork and exit: its number from 1 on; 0 is a child that ends with its body
  std::uint32_t body = 0;  // of fork
  std::array<std::uint64_t, 6>
      arguments{};  // of an access: address, value; of place_code: address; of fill: address, room
};
inline constexpr std::uint8_t kMostCaseChildren = 16;

struct Case {
  Range watched{};  // where the state is compared after every step
  std::vector<CaseStep> steps;
};

enum class StepEnding : std::uint8_t {
  not_reached,  // the process ended before
  done,         // value: a call's result
  error,        // value: the errno
  signal,       // value: number and si_code, see signal_value()
  unsupported,  // the machine does not do it
};

/// What one step gave, and the state that it left in the process that made it.
struct StepRecord {
  StepEnding outcome = StepEnding::not_reached;
  std::uint64_t value = 0;
  std::uint64_t minor_faults = 0;  // with the signal these are the exceptions of an access too
  std::uint64_t state = 0;         // a StateDigest of what is watched
  std::uint64_t flags = 0;         // a FlagsDigest of it; after the last step of a process only, as it takes long
  bool operator==(const StepRecord&) const = default;
};
constexpr std::uint64_t signal_value(int number, int code) {
  return static_cast<std::uint64_t>(number) << 32 | static_cast<std::uint32_t>(code);
}
constexpr int signal_number_of(std::uint64_t value) { return static_cast<int>(value >> 32); }
constexpr int signal_code_of(std::uint64_t value) { return static_cast<int>(static_cast<std::uint32_t>(value)); }

/// In place of an address that the kernel chose, outside of what is watched: each machine chooses its own. Such a
/// mapping is taken away at once.
inline constexpr std::uint64_t kElsewhere = 1;
/// How long the mapping is that an mmap or mremap makes.
constexpr std::uint64_t mapped_length(const CaseStep& step) {
  return page_ceil(step.arguments[step.sys == program::Sys::mremap ? 2 : 1]);
}

/// A record per step, in order.
using CaseRecord = std::vector<StepRecord>;

/// The name of the file that memfd_create makes in a case, whose first argument is not a number.
inline constexpr const char* kCaseFile = "m";

/// Messages, as run/message.h has them for programs. Decoding survives any bytes.
std::string encode_cases(const std::vector<Case>& cases, std::uint64_t time_limit_ms);
struct CasesRequest {
  std::vector<Case> cases;
  std::uint64_t time_limit_ms = 0;  // of each
};
std::optional<CasesRequest> decode_cases(std::string_view body);
std::string encode_records(const std::vector<CaseRecord>& records);
std::optional<std::vector<CaseRecord>> decode_records(std::string_view body);

}  // namespace faultline::run
