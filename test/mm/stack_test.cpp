// Memory that grows down (D.11), and memory that the kernel may drop (D.12).
#include "world.h"

namespace faultline::mm {
namespace {

constexpr MapFlags kPrivateAnonymous = MapFlags::private_ | MapFlags::anonymous;
constexpr MapFlags kStack = kPrivateAnonymous | MapFlags::grows_down | MapFlags::fixed;
constexpr Addr kTop{0x40000000};
constexpr std::uint64_t kGap = 256 * P;

TEST(Stack, GrowsByAReadAndGivesTheVmaAnAnonVma) {
  World world("6.12");
  ASSERT_TRUE(world->mmap(kTop - P, P, kRW, kStack));
  ASSERT_TRUE(world->load(kTop - 3 * P));
  EXPECT_EQ(world->state({kTop - 3 * P, kTop}).vmas, 1U);
  world->for_each_vma({kTop - 3 * P, kTop}, [](const Vma& vma) { EXPECT_NE(vma.anon_vma, 0U); });
  EXPECT_EQ(world->check(), std::nullopt);
}

TEST(Stack, KeepsTheGapToWhatIsAccessibleOnly) {
  World world("6.12");
  ASSERT_TRUE(world->mmap(kTop - P, P, kRW, kStack));
  const Addr low = kTop - 300 * P;
  ASSERT_TRUE(world->mmap(low, P, Prot::read, kPrivateAnonymous | MapFlags::fixed));
  const auto refused = world->store(low + P + kGap - 1, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, kSegvMapErr);
  EXPECT_TRUE(world->store(low + P + kGap, 1));
  ASSERT_TRUE(world->mprotect(low, P, Prot::none));
  EXPECT_TRUE(world->store(low + P, 1));
}

TEST(Stack, RlimitStackBoundsTheWholeOfIt) {
  World world("6.12");
  ASSERT_TRUE(world->set_limit(Resource::stack, {8 * P, 8 * P}));
  ASSERT_TRUE(world->mmap(kTop - P, P, kRW, kStack));
  EXPECT_FALSE(world->store(kTop - 8 * P - 1, 1));
  EXPECT_TRUE(world->store(kTop - 8 * P, 1));
}

TEST(Stack, NoMappingIsPlacedInTheGapBelow) {
  World world("6.12");
  const Addr first = *world->mmap({}, 16 * P, kRW, kPrivateAnonymous | MapFlags::grows_down);
  const Addr second = *world->mmap({}, P, kRW, kPrivateAnonymous);
  EXPECT_EQ(second, first - kGap - P);
  EXPECT_EQ(*world->mmap(first - kGap, P, kRW, kPrivateAnonymous), second - P);
  EXPECT_EQ(*world->mmap(first - P, P, kRW, kPrivateAnonymous | MapFlags::fixed), first - P);
}

TEST(Stack, GrowsUnderTheWriteLockSince65) {
  for (const char* kernel : {"5.10", "6.1", "6.12"}) {
    World world(kernel);
    ASSERT_TRUE(world->mmap(kTop - P, P, kRW, kStack));
    const Counters before = world->counters();
    ASSERT_TRUE(world->store(kTop - 2 * P, 1));
    const Counters took = world->counters() - before;
    const std::uint64_t writing = std::string_view(kernel) == "5.10" ? 0 : 1;
    EXPECT_EQ(took[Counter::mmap_lock_read], 1U) << kernel;
    EXPECT_EQ(took[Counter::mmap_lock_write], writing) << kernel;
    EXPECT_EQ(took[Counter::mmap_lock_downgrade], writing) << kernel;
  }
}

TEST(Stack, MunmapBelowOneKeepsTheWriteLockUpTo64) {
  for (const char* kernel : {"6.1", "6.12"}) {
    World world(kernel);
    ASSERT_TRUE(world->mmap(kTop - P, P, kRW, kStack));
    ASSERT_TRUE(world->mmap(kTop - 2 * P, P, Prot::read, kPrivateAnonymous | MapFlags::fixed));
    ASSERT_TRUE(world->munmap(kTop - 2 * P, P));
    EXPECT_EQ(world->counters()[Counter::mmap_lock_downgrade], std::string_view(kernel) == "6.1" ? 0U : 1U);
  }
}

TEST(Droppable, IsNeitherLockedNorInheritedNorKnownBefore611) {
  constexpr MapFlags kDroppable = MapFlags::droppable | MapFlags::anonymous;
  World old("6.8");
  EXPECT_EQ(old->mmap({}, P, kRW, kDroppable).error(), Errno{EINVAL});
  World world("6.12");
  ASSERT_TRUE(world->mlockall(LockAllFlags::future));
  const Addr a = *world->mmap({}, P, kRW, kDroppable);
  EXPECT_EQ(world->state(Range::of(a, P)).present, 1U);
  EXPECT_TRUE(world->madvise(a, P, Advice::dontneed));
  EXPECT_EQ(world->madvise(a, P, Advice::keeponfork).error(), Errno{EINVAL});
  EXPECT_EQ(world->check(), std::nullopt);
}

}  // namespace
}  // namespace faultline::mm
