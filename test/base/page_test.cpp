// Addresses and ranges, over every range of a small space, against sets of numbers.
#include "base/page.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace faultline {
namespace {

constexpr std::uint64_t kSpace = 6;

std::vector<Range> all_ranges() {
  std::vector<Range> ranges;
  for (std::uint64_t start = 0; start <= kSpace; ++start) {
    for (std::uint64_t end = start; end <= kSpace; ++end) ranges.push_back({Addr{start}, Addr{end}});
  }
  return ranges;
}

std::set<std::uint64_t> members(Range range) {
  std::set<std::uint64_t> set;
  for (std::uint64_t a = range.start.value; a < range.end.value; ++a) set.insert(a);
  return set;
}

TEST(Range, HoldsExactlyTheAddressesFromItsStartToBeforeItsEnd) {
  for (const Range r : all_ranges()) {
    EXPECT_EQ(r.bytes(), members(r).size());
    EXPECT_EQ(r.empty(), members(r).empty());
    for (std::uint64_t a = 0; a <= kSpace; ++a) EXPECT_EQ(r.contains(Addr{a}), members(r).contains(a));
  }
}

TEST(Range, OverlapsAndIntersectsAsSetsDo) {
  for (const Range a : all_ranges()) {
    for (const Range b : all_ranges()) {
      std::set<std::uint64_t> common;
      for (const std::uint64_t x : members(a)) {
        if (members(b).contains(x)) common.insert(x);
      }
      const Range both = a.intersect(b);
      EXPECT_EQ(members(both), common) << a.start.value << '-' << a.end.value << ' ' << b.start.value << '-'
                                       << b.end.value;
      EXPECT_LE(both.start, both.end);
      if (a.empty() || b.empty()) continue;
      EXPECT_EQ(a.overlaps(b), !common.empty());
    }
  }
}

TEST(Range, IntersectionOfRangesApartIsEmptyAtTheHigherStart) {
  const Range low{Addr{0}, Addr{2}};
  const Range high{Addr{4}, Addr{6}};
  EXPECT_EQ(low.intersect(high), (Range{Addr{4}, Addr{4}}));
  EXPECT_EQ(high.intersect(low), (Range{Addr{4}, Addr{4}}));
}

TEST(Range, ContainsANonEmptyRangeWhenItContainsEachAddressOfIt) {
  for (const Range outer : all_ranges()) {
    for (const Range inner : all_ranges()) {
      if (inner.empty()) continue;
      bool each = true;
      for (const std::uint64_t x : members(inner)) each = each && outer.contains(Addr{x});
      EXPECT_EQ(outer.contains(inner), each);
    }
  }
}

TEST(Range, CountsWholePages) {
  EXPECT_EQ(Range::of(Addr{0x7000}, 3 * kPageSize).pages(), 3U);
  EXPECT_EQ(Range::of(Addr{0x7000}, 0).pages(), 0U);
  EXPECT_EQ(Range::of(Addr{0x7000}, 3 * kPageSize).end, Addr{0xa000});
}

TEST(Addr, IsItsPageAndItsOffsetWithinIt) {
  for (const std::uint64_t value : {0ULL, 1ULL, 0xfffULL, 0x1000ULL, 0x1001ULL, 0x7fff'ffff'efffULL}) {
    const Addr a{value};
    EXPECT_EQ(a.page() * 4096 + a.page_offset(), value);
    EXPECT_LT(a.page_offset(), 4096U);
    EXPECT_EQ(a.page_floor() + a.page_offset(), a);
    EXPECT_EQ(a.page_aligned(), value % 4096 == 0);
    EXPECT_TRUE(a.page_floor().page_aligned());
  }
}

TEST(PageCeil, RoundsUpToTheNextPageAndWrapsToZeroAtTheTopAsPAGE_ALIGNDoes) {
  EXPECT_EQ(page_ceil(0), 0U);
  EXPECT_EQ(page_ceil(1), 4096U);
  EXPECT_EQ(page_ceil(4096), 4096U);
  EXPECT_EQ(page_ceil(4097), 8192U);
  constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(page_ceil(kTop - 4095), kTop - 4095);
  EXPECT_EQ(page_ceil(kTop - 4094), 0U);
  EXPECT_EQ(page_ceil(kTop), 0U);
}

}  // namespace
}  // namespace faultline
