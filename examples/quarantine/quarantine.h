#pragma once

#include <faultline/model.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

/// A toy of a hardened allocator, for blocks of one size. A freed block becomes inaccessible at once, so that a use
/// after free is a SIGSEGV, and waits in a ring until as many others were freed after it; then it may be used again,
/// its contents as they were.
class Quarantine {
 public:
  /// `block_bytes` is a multiple of the page size; `slots` is how many freed blocks wait.
  Quarantine(faultline::mm::AddressSpace& memory, std::uint64_t block_bytes, std::size_t slots)
      : memory_(memory), block_bytes_(block_bytes), slots_(slots) {}

  /// A block that can be read and written, or what mmap(2) or mprotect(2) failed with.
  faultline::Result<faultline::Addr> allocate();
  /// Gives a block of allocate() back.
  faultline::Result<void> release(faultline::Addr block);

 private:
  faultline::mm::AddressSpace& memory_;
  std::uint64_t block_bytes_;
  std::size_t slots_;
  std::deque<faultline::Addr> ring_;       // the freed, oldest first
  std::vector<faultline::Addr> reusable_;  // those that left the ring, inaccessible still
};
