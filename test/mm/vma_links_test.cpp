// What looking for VMAs takes up to 6.0: slots of the thread's cache, then levels of the tree. The kernel's own figures
// are instructions of 5.10.223 in vmacache_find: 18 where the cache was forgotten, 26 for a hit in the first slot, 35
// in the second, 52 and more for four.
#include "world.h"

namespace faultline::mm {
namespace {

class VmaSearch : public testing::Test {
 protected:
  VmaSearch() : world_("5.10") { world_->follow_tree(); }

  template <class Do>
  TreeWork during(Do&& work) {
    const TreeWork before = world_->tree_work();
    work();
    const TreeWork after = world_->tree_work();
    return {.levels = after.levels - before.levels,
            .gaps = after.gaps - before.gaps,
            .rotations = after.rotations - before.rotations,
            .cache_slots = after.cache_slots - before.cache_slots};
  }
  TreeWork during_madvise(Addr addr) {
    return during([&] { EXPECT_TRUE(world_->madvise(addr, P, Advice::normal)); });
  }

  World world_;
};

TEST_F(VmaSearch, UnmappingForgetsTheCacheAndTheNextSearchFillsASlot) {
  const Addr a = world_.alone(4);
  const Addr b = world_.alone(4);
  ASSERT_TRUE(world_->munmap(b, 4 * P));
  // train/map.fl:47 on 5.10.223: 18 instructions in vmacache_find. train/touch.fl:24: 25.
  const TreeWork first = during_madvise(a);
  EXPECT_EQ(first.cache_slots, 0);
  EXPECT_GT(first.levels, 0);
  const TreeWork second = during_madvise(a);
  EXPECT_EQ(second.cache_slots, 1);
  EXPECT_EQ(second.levels, 0);
}

TEST_F(VmaSearch, ASlotBelongsToTwoMebibytesOfAddresses) {
  // One VMA, found at an address whose slot is another than the one that it was found at first: train/protect.fl:61,
  // where the range lies in the next 2 MiB, takes 35 instructions, :58, three slots on, 52.
  const std::uint64_t span = 512 * P;
  const Addr a = world_.alone(4 * 512 + 1);
  const Addr b{(a.value + span - 1) / span * span};
  ASSERT_TRUE(during_madvise(b).levels > 0);
  EXPECT_EQ(during_madvise(b).cache_slots, 1);
  EXPECT_EQ(during_madvise(b + span).cache_slots, 4);
  EXPECT_EQ(during_madvise(b + 2 * span).cache_slots, 3);
  EXPECT_EQ(during_madvise(b - P).cache_slots, 2);
}

TEST_F(VmaSearch, GrowingIntoAGapComputesOneGapAndMovingABoundNone) {
  const Addr a = world_.alone(8);
  ASSERT_TRUE(world_->mprotect(a, 4 * P, Prot::read));
  // The bound between two VMAs: vma_adjust with adjust_next leaves both gaps.
  const TreeWork moved = during([&] { ASSERT_TRUE(world_->mprotect(a + 4 * P, P, Prot::read)); });
  EXPECT_EQ(moved.gaps, 0);
  EXPECT_EQ(moved.rotations, 0);
}

}  // namespace
}  // namespace faultline::mm
