#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "record/format.h"

namespace faultline::record {

/// How long a buffer is that a system call writes.
enum class Extent : std::uint8_t {
  none,
  bytes,           // `size` bytes
  result,          // as many bytes as it returned
  times_result,    // `size` bytes for each of what it returned
  times_argument,  // `size` bytes for each of what argument `count` says
  vector,          // the result's bytes, spread over an array of iovec, `count` being the number of those
  message,         // the same, in a msghdr
  mincore,         // a byte for each page of the first two arguments
  ioctl,           // what the request of argument `count` says
};

struct Written {
  Extent extent = Extent::none;
  std::uint8_t argument = 0;  // the buffer's address
  std::uint16_t size = 0;
  std::uint8_t count = 0;  // an argument's index
};

/// What a system call means to a recording.
struct Meaning {
  enum class What : std::uint8_t {
    nothing,
    memory,
    writes,
    fork,
    exec,
    exit,
    truncates,
    rseq,
    handles
  } what = What::nothing;
  Call call{};
  std::uint8_t arguments = 0;  // of a memory call
  std::array<Written, 2> written{};
};

/// Is that what a system call returns that failed: -errno?
constexpr bool failed(std::int64_t result) { return result < 0 && result > -4096; }

/// By the number that this architecture has for it.
const Meaning& meaning_of(Machine machine, std::int64_t number);

}  // namespace faultline::record
