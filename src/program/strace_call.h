#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/errno.h"

namespace faultline::program {

/// How a call ended.
struct RecordedResult {
  std::optional<std::uint64_t> value;  // nothing when it failed, or when strace prints "?"
  std::optional<Errno> error;
};

/// A call of a log with its arguments as numbers, which is what the kernel was given.
struct RecordedCall {
  std::array<std::uint64_t, 6> arguments{};
  std::size_t count = 0;
  RecordedResult result;
};

/// Why a call cannot be read: where in its text, and what was expected there.
struct RecordedCallError {
  std::size_t offset = 0;
  std::string message;
};

/// Reads "(NULL, 8192, PROT_READ|PROT_WRITE, …) = 0x7f… (note) <0.000012>", the name taken off, of a call with `least`
/// to `most` arguments. Descriptors may carry their paths (`3</usr/lib/…>`), and comments may stand anywhere. A string
/// is taken only as argument number `string_argument`, and read as 0.
std::expected<RecordedCall, RecordedCallError> read_recorded_call(std::string_view text, std::size_t least,
                                                                  std::size_t most,
                                                                  std::optional<std::size_t> string_argument = {});

}  // namespace faultline::program
