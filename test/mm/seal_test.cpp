// mseal: docs/kernel-semantics.md C.1 to C.4 and C.7.
#include "world.h"

namespace faultline::mm {
namespace {

constexpr auto kSealing = {"6.8+seal=upfront", "6.12", "6.18", "7.3"};

TEST(Seal, RefusesItsArgumentsInTheKernelsOrder) {
  for (const char* profile : kSealing) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr a = world.alone(4, kR);
    EXPECT_EQ(outcome(world->mseal(a, 4 * P, 0x20)), "EINVAL");
    EXPECT_EQ(outcome(world->mseal(a + 1, P, 0)), "EINVAL");
    EXPECT_EQ(outcome(world->mseal(a, ~std::uint64_t{0}, 0)), "EINVAL");
    EXPECT_EQ(outcome(world->mseal(a, ~std::uint64_t{0} - 8 * P, 0)), "EINVAL");
    EXPECT_EQ(outcome(world->mseal(Addr{0x1000}, 0, 0)), "ok");
    EXPECT_EQ(outcome(world->mseal(a, 5 * P, 0)), "ENOMEM");
    EXPECT_EQ(outcome(world->mprotect(a, 4 * P, kRW)), "ok");  // nothing was sealed
    EXPECT_EQ(outcome(world->mseal(a, 2 * P + 1, 0)), "ok");   // seals three pages
    EXPECT_EQ(outcome(world->mprotect(a + 3 * P, P, kR)), "ok");
    EXPECT_EQ(outcome(world->mprotect(a + 2 * P, P, kR)), "EPERM");
    EXPECT_EQ(outcome(world->mseal(a, 2 * P, 0)), "ok");  // again
  }
  World absent("6.8");
  EXPECT_EQ(outcome(absent->mseal(absent.alone(1), P, 0)), "ENOSYS");
}

TEST(Seal, BlocksEveryChangeOfTheMapping) {
  for (const char* profile : kSealing) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr a = world.alone(4, kR);
    EXPECT_TRUE(world->mseal(a, 4 * P, 0));
    EXPECT_EQ(outcome(world->mprotect(a, 4 * P, kRW)), "EPERM");
    EXPECT_EQ(outcome(world->mprotect(a, 4 * P, kR)), "EPERM");  // even to what it is
    EXPECT_EQ(outcome(world->munmap(a, 4 * P)), "EPERM");
    const auto over = [&](MapFlags fixed) {
      return outcome(world->mmap(a, P, kR, MapFlags::private_ | MapFlags::anonymous | fixed));
    };
    EXPECT_EQ(over(MapFlags::fixed), "EPERM");
    EXPECT_EQ(over(MapFlags::fixed_noreplace), "EEXIST");
    EXPECT_EQ(outcome(world->mlock(a, P)), "ok");
    EXPECT_EQ(outcome(world->munlock(a, P)), "ok");
    EXPECT_TRUE(world->load(a));
    EXPECT_EQ(outcome(world->fork()->munmap(a, P)), "EPERM");  // fork copies the seal
  }
}

TEST(Seal, StaysWithItsPagesWhenNeighboursMerge) {
  World world("6.12");
  const Addr a = world.alone(4, kR);
  EXPECT_TRUE(world->mseal(a + P, P, 0));
  EXPECT_EQ(world.vmas(a, 4), 3u);
  EXPECT_TRUE(world->mseal(a + 2 * P, P, 0));
  EXPECT_EQ(world.vmas(a, 4), 3u);  // sealed neighbours merge with each other
  EXPECT_TRUE(world->mseal(a, 4 * P, 0));
  EXPECT_EQ(world.vmas(a, 4), 1u);
}

TEST(Seal, InTheLoopLeavesWhatWasChangedBefore) {
  // P6.18: [RO, RO, SEAL, RO] to RW is EPERM with the first two changed; upfront changes nothing.
  for (const auto& [profile, changed] :
       {std::pair{"6.8+seal=upfront", false}, {"6.12", true}, {"6.18", true}, {"7.3", true}}) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr a = world.alone(4, kR);
    EXPECT_TRUE(world->mseal(a + 2 * P, P, 0));
    EXPECT_EQ(outcome(world->mprotect(a, 4 * P, kRW)), "EPERM");
    EXPECT_EQ(world->protection(a), changed ? kRW : kR);
    EXPECT_EQ(world->protection(a + P), changed ? kRW : kR);
    EXPECT_EQ(world->protection(a + 2 * P), kR);
    EXPECT_EQ(world->protection(a + 3 * P), kR);
  }
}

TEST(Seal, AndAHoleAreReportedInTheOrderInWhichTheyAreMet) {
  for (const auto& [profile, hole_first] :
       {std::pair{"6.8+seal=upfront", "EPERM"}, {"6.12", "ENOMEM"}, {"6.18", "ENOMEM"}, {"7.3", "ENOMEM"}}) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr a = world.alone(4, kR);
    EXPECT_TRUE(world->mseal(a + 2 * P, P, 0));
    EXPECT_TRUE(world->munmap(a + 3 * P, P));
    EXPECT_EQ(outcome(world->mprotect(a, 4 * P, kRW)), "EPERM");
    const Addr b = world.alone(4, kR);
    EXPECT_TRUE(world->mseal(b + 2 * P, P, 0));
    EXPECT_TRUE(world->munmap(b + P, P));
    EXPECT_EQ(outcome(world->mprotect(b, 4 * P, kRW)), hole_first);
  }
}

TEST(Seal, MakesMunmapAtomicButForTheSplitAtItsStart) {
  // P6.18: munmap of [1,4) with page 2 sealed: EPERM, VMA list [0,1) [1,2) [2,3) [3,4).
  for (const auto& [profile, vmas] : {std::pair{"6.8+seal=upfront", 3u}, {"6.12", 4u}, {"6.18", 4u}, {"7.3", 4u}}) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr a = world.alone(4);
    world.store_pages(a, 4);
    EXPECT_TRUE(world->mseal(a + 2 * P, P, 0));
    EXPECT_EQ(outcome(world->munmap(a + P, 3 * P)), "EPERM");
    EXPECT_EQ(world.vmas(a, 4), vmas);
    EXPECT_EQ(world.present(a, 4), 4u);
  }
  World world("6.18");
  const Addr a = world.alone(4);
  EXPECT_TRUE(world->mseal(a + 2 * P, P, 0));
  EXPECT_EQ(outcome(world->mmap(a + P, 3 * P, kR, MapFlags::private_ | MapFlags::anonymous | MapFlags::fixed)),
            "EPERM");
  EXPECT_EQ(world.vmas(a, 4), 4u);
}

std::string advise_sealed(const char* profile, Prot prot, int advice) {
  World world(profile);
  const Addr a = world.alone(1, prot);
  EXPECT_TRUE(world->mseal(a, P, 0));
  return outcome(world->madvise(a, P, static_cast<Advice>(advice)));
}

TEST(Seal, RefusesDiscardsOfReadOnlyMemoryOnly) {
  // P6.18, sealed read-only private anonymous memory.
  for (const int advice : {4, 8, 9, 10, 18, 24, 102}) EXPECT_EQ(advise_sealed("6.18", kR, advice), "EPERM") << advice;
  for (const int advice : {0, 1, 2, 3, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22, 103}) {
    EXPECT_EQ(advise_sealed("6.18", kR, advice), "ok") << advice;
  }
  EXPECT_EQ(advise_sealed("6.18", kR, 23), "EINVAL");
  EXPECT_EQ(advise_sealed("6.18", kR, 25), "EINVAL");
  // The same, writable: only REMOVE, which wants a shared mapping, and COLLAPSE.
  for (const int advice : {0, 1, 2, 3, 4, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 102, 103}) {
    EXPECT_EQ(advise_sealed("6.18", kRW, advice), "ok") << advice;
  }
  EXPECT_EQ(advise_sealed("6.18", kRW, 9), "EINVAL");
}

TEST(Seal, OfV10TookNearlyAllAdviceForADiscard) {
  constexpr auto kV10 = "6.8+seal=upfront+seal-discard=v10-mask";
  for (const int advice : {1, 2, 3, 4, 8, 9, 10, 14, 18}) EXPECT_EQ(advise_sealed(kV10, kR, advice), "EPERM") << advice;
  EXPECT_EQ(advise_sealed(kV10, kR, 0), "ok");
}

TEST(Seal, CheckedUpfrontVisitsEachVmaOnceMore) {
  const auto visits = [](const char* profile, auto&& act) {
    World world(profile);
    const Addr a = world.alone(32);
    for (int i = 0; i < 32; i += 2) EXPECT_TRUE(world->mprotect(a + i * P, P, kNone));
    EXPECT_EQ(world.vmas(a, 32), 32u);
    return world.during(Counter::vma_visits, [&] { act(world, a); });
  };
  const auto protect = [](World& world, Addr a) { EXPECT_TRUE(world->mprotect(a, 32 * P, kR)); };
  const auto unmap = [](World& world, Addr a) { EXPECT_TRUE(world->munmap(a, 32 * P)); };
  const auto discard = [](World& world, Addr a) { EXPECT_TRUE(world->madvise(a, 32 * P, Advice::dontneed)); };
  EXPECT_EQ(visits("6.12+seal=upfront", protect), visits("6.12", protect) + 32);
  EXPECT_EQ(visits("6.12+seal=upfront", unmap), visits("6.12", unmap) + 32);
  EXPECT_EQ(visits("6.12+seal=upfront", discard), visits("6.12", discard) + 32);
}

}  // namespace
}  // namespace faultline::mm
