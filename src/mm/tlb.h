#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/page.h"
#include "mm/frame.h"

namespace faultline::mm {

/// A small direct-mapped cache of translations, so that an access which hits costs a few nanoseconds. It caches
/// permissions that the page table grants and is told of every entry that changes; it never makes a stale translation
/// visible.
class Tlb {
 public:
  static constexpr std::uint8_t kLoad = 1;
  static constexpr std::uint8_t kStore = 2;  // writable and already dirty
  static constexpr std::uint8_t kFetch = 4;

  struct Entry {
    std::uint64_t page = ~std::uint64_t{0};
    FrameId frame;
    std::uint8_t allows = 0;
  };

  /// The cached translation of the page when it allows all of `need`, else nullptr.
  const Entry* lookup(Addr addr, std::uint8_t need) const {
    const Entry& entry = entries_[addr.page() & kMask];
    return entry.page == addr.page() && (entry.allows & need) == need ? &entry : nullptr;
  }
  /// `addr` is the start of a page.
  void fill(Addr addr, FrameId frame, std::uint8_t allows) {
    entries_[addr.page() & kMask] = Entry{addr.page(), frame, allows};
    const Range page = Range::of(addr, kPageSize);
    filled_ = filled_.empty() ? page : Range{std::min(filled_.start, page.start), std::max(filled_.end, page.end)};
  }
  void drop(Addr addr) {
    Entry& entry = entries_[addr.page() & kMask];
    if (entry.page == addr.page()) entry = Entry{};
  }
  void drop(Range range) {
    if (!range.overlaps(filled_)) return;
    const Range part = range.intersect(filled_);
    if (part.pages() < kEntries) {
      for (Addr at = part.start; at < part.end; at = at + kPageSize) drop(at);
    } else {
      for (Entry& entry : entries_) {
        if (part.contains(Addr{entry.page << kPageShift})) entry = Entry{};
      }
    }
    if (part == filled_) filled_ = {};
  }
  void clear() { drop(filled_); }

 private:
  static constexpr std::size_t kEntries = 256;
  static constexpr std::uint64_t kMask = kEntries - 1;
  std::array<Entry, kEntries> entries_{};
  // Covers all entries, so that changing again what nobody touched since costs nothing.
  Range filled_{};
};

}  // namespace faultline::mm
