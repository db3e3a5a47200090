// Pages held by a device, and passes of NUMA balancing (A.8, A.9).
#include "world.h"

namespace faultline::mm {
namespace {

TEST(Pin, MakesASharedPageThisProcessesOwnFirst) {
  for (const char* kernel : {"5.10", "6.1", "7.3"}) {
    World world(kernel);
    const Addr a = world.alone(1);
    world.store_pages(a, 1, 7);
    const auto child = world->fork();
    const auto pinned = world->pin(a, P);
    ASSERT_TRUE(pinned) << kernel;
    EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 1, 8); }), 0U) << kernel;
    EXPECT_EQ(child->peek(a), 7) << kernel;
  }
}

TEST(Pin, ForkCopiesThePageForTheChildAndLeavesTheParents) {
  for (const char* kernel : {"5.10", "6.1", "7.3"}) {
    World world(kernel);
    const Addr a = world.alone(2);
    world.store_pages(a, 2, 7);
    const auto pinned = world->pin(a, P);
    const auto child = world->fork();
    EXPECT_TRUE(world->page(a).writable) << kernel;
    EXPECT_FALSE(world->page(a + P).writable) << kernel;
    EXPECT_TRUE(child->page(a).writable) << kernel;
    EXPECT_EQ(child->peek(a), 7) << kernel;
  }
}

TEST(Pin, EndsWithItsLastHolderAndOutlivesTheMapping) {
  World world("6.12");
  const Addr a = world.alone(1);
  {
    const auto pinned = world->pin(a, P);
    ASSERT_TRUE(pinned);
    ASSERT_TRUE(world->munmap(a, P));
    EXPECT_EQ(world.system().frames().live(), 1U);
  }
  EXPECT_EQ(world.system().frames().live(), 0U);
}

TEST(Pin, RefusesWhatMayNotBeWrittenAndPinsNothing) {
  World world("6.12");
  const Addr a = world.alone(2);
  ASSERT_TRUE(world->mprotect(a + P, P, kR));
  EXPECT_EQ(world->pin(a, 2 * P).error(), Errno{EFAULT});
  ASSERT_TRUE(world->munmap(a, 2 * P));
  EXPECT_EQ(world.system().frames().live(), 0U);
}

TEST(Pin, OfAHugePageKeepsItWhole) {
  World world("6.18");
  const Addr a{0x80000000};
  ASSERT_TRUE(world->mmap(a, kHugeBytes, kRW, MapFlags::private_ | MapFlags::anonymous | MapFlags::fixed));
  ASSERT_TRUE(world->madvise(a, kHugeBytes, Advice::hugepage));
  world.store_pages(a, 1);
  ASSERT_TRUE(world->page(a).huge);
  {
    const auto pinned = world->pin(a + 3 * P, P);
    ASSERT_TRUE(pinned);
    EXPECT_TRUE(world->madvise(a + P, P, Advice::free));
    EXPECT_TRUE(world->mprotect(a, 8 * P, kR));
    EXPECT_TRUE(world->madvise(a + P, P, Advice::free));
    world.check();
  }
  ASSERT_TRUE(world->munmap(a, kHugeBytes));
  EXPECT_EQ(world.system().frames().live(), 0U);
}

TEST(NumaPass, UpTo61KeepsWhetherAnEntryWasWritable) {
  for (const char* kernel : {"5.10", "6.1", "6.8"}) {
    World world(kernel);
    const Addr a = world.alone(1);
    world.store_pages(a, 1);
    world->numa_pass(Range::of(a, P));
    EXPECT_FALSE(world->page(a).writable) << kernel;
    EXPECT_EQ(world.during(Counter::fault_numa, [&] { world.load_pages(a, 1); }), 1U) << kernel;
    EXPECT_TRUE(world->page(a).writable) << kernel;
  }
}

TEST(NumaPass, PassesOverWhatIsPinned) {
  World world("6.12");
  const Addr a = world.alone(2);
  world.store_pages(a, 2);
  const auto pinned = world->pin(a, P);
  EXPECT_EQ(world.during(Counter::ptes_changed, [&] { world->numa_pass(Range::of(a, 2 * P)); }), 1U);
}

}  // namespace
}  // namespace faultline::mm
