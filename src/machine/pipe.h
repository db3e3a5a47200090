#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/errno.h"
#include "mm/address_space.h"

namespace faultline::machine {

/// A pipe(7) of 16 buffers of a page each. Nothing waits here: ask first whether a call would.
class Pipe {
 public:
  bool read_waits(std::uint64_t length) const { return length != 0 && buffers_.empty() && !writer.expired(); }
  bool write_waits(std::uint64_t length) const;

  /// The bytes read, 0 when nobody can write any more. EFAULT when the first buffer's bytes cannot all be copied.
  Result<std::uint64_t> read(mm::AddressSpace& space, Addr buffer, std::uint64_t length);
  /// The bytes written. EFAULT when the first page's worth cannot all be had.
  Result<std::uint64_t> write(mm::AddressSpace& space, Addr buffer, std::uint64_t length);

  /// Alive while a descriptor of that end is open.
  std::weak_ptr<void> reader;
  std::weak_ptr<void> writer;

 private:
  using Bytes = std::vector<std::uint8_t>;
  static constexpr std::size_t kBuffers = 16;

  /// What is beyond whole pages goes behind the last buffer's bytes, if it fits there.
  std::uint64_t joins_last(std::uint64_t length) const;

  std::deque<Bytes> buffers_;  // none is empty
};

}  // namespace faultline::machine
