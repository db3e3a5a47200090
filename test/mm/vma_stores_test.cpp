// Which changes of VMAs are one store into the kernel's tree of them, and which are several.
#include "mm/vma_stores.h"

#include <gtest/gtest.h>

namespace faultline::mm {
namespace {

constexpr Beside kBeside{.apart = 0, .below = 7, .above = 2};
constexpr Addr kHeap{0x70170000};
constexpr Range kSpace{Addr{0x10000}, Addr{0x7ffff3dff000}};

Range pages(std::uint64_t first, std::uint64_t count) {
  return Range::of(Addr{0x7fff00000000} + first * kPageSize, count * kPageSize);
}

VmaStores stores() { return {VmaIndex::maple_tree_rewrite, kBeside, kSpace, kHeap}; }

/// The leaf copies that the kernel makes are stores that change which ranges there are.
TEST(VmaStores, AVmaThatTakesOverBothNeighboursIsStoredOnce) {
  VmaStores all = stores();
  for (std::uint64_t i = 0; i < 3; ++i) all.added(pages(i, 1));
  const std::uint64_t before = all.work().nodes;
  all.took_next(pages(0, 2));
  all.took_next(pages(0, 3));
  all.end_merge();
  EXPECT_EQ(all.work().nodes, before + 1);
}

// mprotect of 6.12 over a row of VMAs: mas_store_prealloc() for each that merges with the one before.
TEST(VmaStores, VmasThatMergeOneAfterTheOtherAreStoredEach) {
  VmaStores all = stores();
  for (std::uint64_t i = 0; i < 12; ++i) all.added(pages(i, 1));
  const std::uint64_t before = all.work().nodes;
  for (std::uint64_t i = 2; i <= 4; ++i) {
    all.took_next(pages(0, i));
    all.end_merge();
  }
  EXPECT_EQ(all.work().nodes, before + 3);
}

TEST(VmaStores, VmasThatAreUnmappedTogetherAreOneStore) {
  VmaStores all = stores();
  for (std::uint64_t i = 0; i < 3; ++i) all.added(pages(2 * i, 1));
  const std::uint64_t before = all.work().nodes;
  for (std::uint64_t i = 0; i < 3; ++i) all.removed(pages(2 * i, 1));
  EXPECT_EQ(all.work().nodes, before + 1);
}

}  // namespace
}  // namespace faultline::mm
