#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

namespace faultline {

/// Bytes in a base page. Both modelled architectures run with 4 KiB pages.
inline constexpr std::uint64_t kPageSize = 4096;
inline constexpr unsigned kPageShift = 12;

/// A user virtual address, in bytes.
struct Addr {
  std::uint64_t value = 0;

  auto operator<=>(const Addr&) const = default;
  constexpr Addr operator+(std::uint64_t bytes) const { return Addr{value + bytes}; }
  constexpr Addr operator-(std::uint64_t bytes) const { return Addr{value - bytes}; }
  /// Distance in bytes; the caller knows that `other` is not above this address.
  constexpr std::uint64_t operator-(Addr other) const { return value - other.value; }

  /// The number of the page that holds this address.
  constexpr std::uint64_t page() const { return value >> kPageShift; }
  constexpr std::uint64_t page_offset() const { return value & (kPageSize - 1); }
  constexpr bool page_aligned() const { return page_offset() == 0; }
  constexpr Addr page_floor() const { return Addr{value & ~(kPageSize - 1)}; }
};

/// Rounds a length in bytes up to whole pages, wrapping to 0 as the kernel's PAGE_ALIGN does.
constexpr std::uint64_t page_ceil(std::uint64_t bytes) { return (bytes + kPageSize - 1) & ~(kPageSize - 1); }

/// A half-open range of addresses [start, end). Empty when start == end; never inverted.
struct Range {
  Addr start;
  Addr end;

  static constexpr Range of(Addr start, std::uint64_t bytes) { return {start, start + bytes}; }
  auto operator<=>(const Range&) const = default;

  constexpr std::uint64_t bytes() const { return end - start; }
  constexpr std::uint64_t pages() const { return bytes() >> kPageShift; }
  constexpr bool empty() const { return start == end; }
  constexpr bool contains(Addr a) const { return start <= a && a < end; }
  constexpr bool contains(Range r) const { return start <= r.start && r.end <= end; }
  constexpr bool overlaps(Range r) const { return start < r.end && r.start < end; }
  /// The part that both ranges cover; empty (at the higher start) when they do not overlap.
  constexpr Range intersect(Range r) const {
    const Addr s = std::max(start, r.start);
    return {s, std::max(s, std::min(end, r.end))};
  }
};

}  // namespace faultline
