// mremap: docs/kernel-semantics.md C.3, D.2, D.6. programs/mremap-shapes.fl holds the shapes against a kernel too.
#include "world.h"

namespace faultline::mm {
namespace {

constexpr RemapFlags kMove = RemapFlags::maymove;
constexpr RemapFlags kMoveTo = RemapFlags::maymove | RemapFlags::fixed;

TEST(Mremap, MovesPagesContentsAndGuards) {
  World world("6.18");
  const Addr a = world.alone(4);
  world.store_pages(a, 2, 9);
  EXPECT_TRUE(world->madvise(a + 3 * P, P, Advice::guard_install));
  const Addr b = world.alone(8);
  EXPECT_TRUE(world->mremap(a, 4 * P, 4 * P, kMoveTo, b));
  world.check();
  EXPECT_EQ(world.vmas(a, 4), 0u);
  EXPECT_EQ(world.present(b, 4), 2u);
  EXPECT_EQ(world->peek(b + P), 9);
  EXPECT_FALSE(world->load(b + 3 * P));
}

TEST(Mremap, SealedIsTestedBeforeTheDestinationGoesInEveryEra) {
  for (const char* profile : {"6.8+seal=upfront", "6.12", "6.18", "7.3"}) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr a = world.alone(2);
    const Addr b = world.alone(2);
    world.store_pages(b, 2, 5);
    EXPECT_TRUE(world->mseal(a, 2 * P, 0));
    EXPECT_EQ(outcome(world->mremap(a, 2 * P, 2 * P, kMoveTo, b)), "EPERM");
    EXPECT_EQ(world->peek(b), 5);
    EXPECT_EQ(outcome(world->mremap(b, 2 * P, 2 * P, kMoveTo, a)), "EPERM");
    EXPECT_EQ(world.present(b, 2), 2u);
  }
}

TEST(Mremap, OfSeveralMappingsLeavesTheSealedOneAndWhatFollows) {
  // P6.18: the source has lost pages 0 and 1, the destination has them.
  World world("6.18");
  const Addr a = world.alone(4);
  world.store_pages(a, 4);
  EXPECT_TRUE(world->mseal(a + 2 * P, P, 0));
  const Addr b = world.alone(4);
  EXPECT_EQ(outcome(world->mremap(a, 4 * P, 4 * P, kMoveTo, b)), "EPERM");
  EXPECT_EQ(world.vmas(a, 2), 0u);
  EXPECT_EQ(world.present(a, 4), 2u);
  EXPECT_EQ(world.present(b, 2), 2u);
}

TEST(Mremap, WantsRoomBelowTheMapLimit) {
  // Probed on 6.18: at 65524 of 65530 a move succeeds, at 65526 it does not, and a call that moves nothing always does.
  for (const auto& [vmas, moved] : {std::pair{65524u, "ok"}, {65526u, "ENOMEM"}}) {
    World world("6.18");
    const Addr a = world.alone(1);
    const Addr free = world.alone(1);
    EXPECT_TRUE(world->munmap(free, P));
    while (world->vma_count() < vmas) world.alone(1);
    EXPECT_EQ(outcome(world->mremap(a, P, P, RemapFlags::none)), "ok");
    EXPECT_EQ(outcome(world->mremap(a, P, P, kMoveTo, free)), moved);
  }
  World every_call("7.3", {.max_map_count = 10});
  const Addr a = every_call.alone(1);
  while (every_call->vma_count() < 7) every_call.alone(1);
  EXPECT_EQ(outcome(every_call->mremap(a, P, P, RemapFlags::none)), "ENOMEM");
}

TEST(Mremap, GrowsALockedMappingWithItsPages) {
  World world("6.18");
  const Addr a = world.alone(2);
  EXPECT_TRUE(world->mlock(a, 2 * P));
  EXPECT_TRUE(world->mremap(a, 2 * P, 3 * P, kMove));
  EXPECT_EQ(world.present(a, 3), 3u);
}

}  // namespace
}  // namespace faultline::mm
