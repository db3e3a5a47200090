#pragma once

#include <cstdint>
#include <utility>

#include "base/flags.h"
#include "base/page.h"

namespace faultline::run {

/// What a process can observe of a VMA, as /proc/self/maps shows it.
struct ObservedVma {
  Range range;
  Prot prot = Prot::none;
  bool shared = false;
  std::uint64_t offset = 0;  // in bytes, into the file or shared memory; 0 for private anonymous memory
};

/// What it can observe of a resident page, as pagemap(5) shows it.
struct ObservedPage {
  Addr page;
  std::uint8_t first_byte = 0;
  bool cached = false;       // of a file or of shared memory (bit 61)
  bool mapped_once = false;  // by one entry alone (bit 56); never the zero page. Left out where the range has room for
                             // a huge page, of whose parts kernels say different things
};

/// How writes to a page are watched, as pagemap(5) shows it; of pages that are not there, too.
struct ObservedTracking {
  Addr page;
  bool soft_dirty = false;  // bit 55, once the process has begun to track (clear_refs(4)); before, every page has it
  bool uffd_wp = false;     // bit 57
};

/// One round of splitmix64 over what came before.
constexpr std::uint64_t mixed(std::uint64_t value, std::uint64_t word) {
  std::uint64_t z = (value ^ word) + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// One number for the flags of all mappings of a range (base/vm_flags.h). Every machine feeds it in order of address.
class FlagsDigest {
 public:
  explicit FlagsDigest(Range range) : range_(range) {}

  /// Of a VMA only the part inside the range counts.
  void vma(Range vma, std::uint64_t flags) {
    const Range part = range_.intersect(vma);
    for (const std::uint64_t word : {part.start.value, part.end.value, flags}) value_ = mixed(value_, word);
  }
  std::uint64_t value() const { return value_; }

 private:
  Range range_;
  std::uint64_t value_ = 0;
};

/// One number for all that a process can observe of a range. What state() of the language gives. Every machine feeds it
/// in order of address, each VMA before its pages.
class StateDigest {
 public:
  explicit StateDigest(Range range) : range_(range) {}

  /// Of a VMA only the part inside the range counts.
  void vma(const ObservedVma& vma) {
    const Range part = range_.intersect(vma.range);
    mix(vma.shared ? 3 : 1);
    mix(part.start.value);
    mix(part.end.value);
    mix(std::to_underlying(vma.prot));
    mix(vma.offset + (part.start - vma.range.start));
  }
  void page(const ObservedPage& page) {
    constexpr std::uint64_t kHugeBytes = std::uint64_t{2} << 20;
    const bool mapped_once = page.mapped_once && range_.bytes() < kHugeBytes;
    mix(4U | (page.cached ? 8U : 0U) | (mapped_once ? 16U : 0U));
    mix(page.page.value);
    mix(page.first_byte);
  }
  /// Of a page before page(). Nothing where nothing is watched.
  void tracking(const ObservedTracking& page) {
    if (!page.soft_dirty && !page.uffd_wp) return;
    mix(32U | (page.soft_dirty ? 64U : 0U) | (page.uffd_wp ? 128U : 0U));
    mix(page.page.value);
  }
  std::uint64_t value() const { return value_; }

 private:
  void mix(std::uint64_t word) { value_ = mixed(value_, word); }

  Range range_;
  std::uint64_t value_ = 0;
};

}  // namespace faultline::run
