// The links between VMAs and the anon_vmas of their pages that a call makes, moves and frees. Expected is what 5.10.223
// calls: anon_vma_interval_tree_insert() takes 24 instructions in an empty tree and 37 in one of few VMAs,
// anon_vma_interval_tree_remove() 50 to 73, unlink_anon_vmas() 81 for a VMA.
#include "world.h"

namespace faultline::mm {
namespace {

struct Counted {
  std::uint64_t made = 0;
  std::uint64_t moved = 0;
  std::uint64_t freed = 0;
  bool operator==(const Counted&) const = default;
};

template <class Act>
Counted links(World& world, Act&& act) {
  const Counters before = world->counters();
  act();
  const Counters counted = world->counters() - before;
  return {counted[Counter::anon_links_made], counted[Counter::anon_links_moved], counted[Counter::anon_links_freed]};
}

TEST(AnonVmaChain, OfAPartThatIsCutOutAndJoinedAgain) {
  World world("5.10");
  const Addr a = world.alone(90);
  world.store_pages(a, 20);
  const auto advise = [&](Advice advice) {
    return links(world, [&] { EXPECT_TRUE(world->madvise(a + 10 * P, 7 * P, advice)); });
  };
  // pools.fl:36: two splits, each of which clones and moves; four insertions.
  EXPECT_EQ(advise(Advice::dontfork), (Counted{2, 2, 0}));
  // pools.fl:37: two VMAs go (162 in unlink_anon_vmas), each for another move of the first: 74 in two insertions.
  EXPECT_EQ(advise(Advice::dofork), (Counted{0, 2, 2}));
}

TEST(AnonVmaChain, OfAVmaWithoutPagesThereAreNone) {
  World world("5.10");
  const Addr a = world.alone(90);
  EXPECT_EQ(links(world, [&] { EXPECT_TRUE(world->munmap(a + 10 * P, 5 * P)); }), Counted{});
}

TEST(AnonVmaChain, UnmappingAPartMakesOneMovesOneAndFreesOne) {
  World world("5.10");
  const Addr a = world.alone(140);
  world.store_pages(a, 75);
  // pools.fl:35: 74 in two insertions, 81 in unlink_anon_vmas().
  EXPECT_EQ(links(world, [&] { EXPECT_TRUE(world->munmap(a + 90 * P, 50 * P)); }), (Counted{1, 1, 1}));
}

}  // namespace
}  // namespace faultline::mm
