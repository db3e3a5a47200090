#pragma once

#include <cstdint>
#include <utility>

#include "base/flags.h"
#include "base/page.h"

namespace faultline::run {

/// One number for all that a process can observe of a range: the bounds and permissions of its VMAs, and of each page
/// that is resident its number and first byte. What state() of the language gives. Every machine feeds it in order of
/// address, VMAs before pages.
class StateDigest {
 public:
  explicit StateDigest(Range range) : range_(range) {}

  /// Of a VMA only the part inside the range counts.
  void vma(Range vma, Prot prot) {
    const Range part = range_.intersect(vma);
    mix(1);
    mix(part.start.value);
    mix(part.end.value);
    mix(std::to_underlying(prot));
  }
  void resident_page(Addr page, std::uint8_t first_byte) {
    mix(2);
    mix(page.value);
    mix(first_byte);
  }
  std::uint64_t value() const { return value_; }

 private:
  /// One round of splitmix64 over what came before.
  void mix(std::uint64_t word) {
    std::uint64_t z = (value_ ^ word) + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    value_ = z ^ (z >> 31);
  }

  Range range_;
  std::uint64_t value_ = 0;
};

}  // namespace faultline::run
