// Soft-dirty tracking: docs/kernel-semantics.md A.5. What the kernels do was probed on
// Debian's 5.10.223, 6.1.176, 6.12.117 and 7.3.4.
#include "world.h"

namespace faultline::mm {
namespace {

constexpr int kSoftDirty = 4;
const char* const kKernels[] = {"5.10", "6.1", "6.8", "6.12", "7.3"};

/// "S" for each page that is soft-dirty, "-" for the others.
std::string bits(World& world, Addr a, std::uint64_t pages) {
  std::string text;
  for (std::uint64_t i = 0; i < pages; ++i) text += world->page(a + i * P).soft_dirty ? 'S' : '-';
  return text;
}

TEST(SoftDirty, BelongsToEveryPageOfANewMappingUntilItIsCleared) {
  for (const char* kernel : kKernels) {
    SCOPED_TRACE(kernel);
    World world(kernel);
    const Addr a = world.alone(3);
    world.store_pages(a, 1);
    EXPECT_EQ(bits(world, a, 3), "SSS");
    EXPECT_TRUE(world->clear_refs(kSoftDirty));
    EXPECT_EQ(bits(world, a, 3), "---");
  }
}

TEST(SoftDirty, IsSetByTheFirstWriteWhichFaults) {
  for (const char* kernel : kKernels) {
    SCOPED_TRACE(kernel);
    World world(kernel);
    const Addr a = world.alone(3);
    world.store_pages(a, 2);
    EXPECT_TRUE(world->clear_refs(kSoftDirty));
    EXPECT_EQ(world.during(Counter::exceptions, [&] { world.load_pages(a, 2); }), 0u);
    EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 1); }), 1u);
    EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 1); }), 0u);
    EXPECT_EQ(bits(world, a, 3), "S--");
  }
}

/// What a round trip of protection makes writable: of a page written to since, and of one not.
TEST(SoftDirty, KeepsMprotectFromMakingWritableWhatWasNotWrittenTo) {
  struct Case {
    const char* kernel;
    std::uint64_t of_written;
    std::uint64_t of_clean;
  };
  // The v5 patch asks the wrong way round, and loses the write (A.5).
  for (const auto& [kernel, of_written, of_clean] :
       {Case{"5.10", 1, 1}, Case{"5.10+upgrade=page-count", 0, 0}, Case{"6.1", 0, 1}, Case{"6.12", 0, 1}}) {
    SCOPED_TRACE(kernel);
    World world(kernel);
    const Addr a = world.alone(2);
    world.store_pages(a, 2);
    EXPECT_TRUE(world->clear_refs(kSoftDirty));
    EXPECT_TRUE(world->store(a, 1));
    EXPECT_TRUE(world->mprotect(a, 2 * P, kR));
    EXPECT_TRUE(world->mprotect(a, 2 * P, kRW));
    EXPECT_EQ(world->counters()[Counter::ptes_upgraded], 2 - of_written - of_clean);
    const std::uint64_t before = world.counted(Counter::exceptions);
    EXPECT_TRUE(world->store(a, 2));
    EXPECT_EQ(world.counted(Counter::exceptions) - before, of_written);
    EXPECT_TRUE(world->store(a + P, 2));
    EXPECT_EQ(world.counted(Counter::exceptions) - before, of_written + of_clean);
  }
}

TEST(SoftDirty, TracksSharedMemoryByWriteNotify) {
  for (const char* kernel : kKernels) {
    SCOPED_TRACE(kernel);
    World world(kernel);
    const auto a = world->mmap({}, 4 * P, kRW, MapFlags::shared | MapFlags::anonymous);
    ASSERT_TRUE(a);
    world.store_pages(*a, 2);
    EXPECT_TRUE(world->clear_refs(kSoftDirty));
    EXPECT_EQ(bits(world, *a, 4), "----");
    EXPECT_EQ(world.during(Counter::minor_faults, [&] { world.store_pages(*a, 1); }), 1u);
    EXPECT_EQ(bits(world, *a, 4), "S---");
    // No kernel upgrades tracked shared memory, written to or not.
    EXPECT_TRUE(world->mprotect(*a, 4 * P, kR));
    EXPECT_TRUE(world->mprotect(*a, 4 * P, kRW));
    EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(*a, 2); }), 2u);
    EXPECT_EQ(bits(world, *a, 4), "SS--");
  }
}

TEST(SoftDirty, IsSetWhereAPageIsMovedTo) {
  World world("6.12");
  const Addr a = world.alone(2);
  world.store_pages(a, 1);
  EXPECT_TRUE(world->clear_refs(kSoftDirty));
  const auto b = world->mremap(a, 2 * P, 2 * P, RemapFlags::maymove | RemapFlags::fixed, Addr{0x70000000});
  ASSERT_TRUE(b);
  EXPECT_EQ(bits(world, *b, 2), "S-");
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(*b, 1); }), 1u);
}

TEST(SoftDirty, OfMappingsThatMergeIsDecidedByTheEra) {
  for (const auto& [kernel, expected] : {std::pair{"6.12", "S--"}, std::pair{"7.3", "SSS"}}) {
    SCOPED_TRACE(kernel);
    World world(kernel);
    const Addr a = world.alone(3);
    world.store_pages(a, 3);
    EXPECT_TRUE(world->clear_refs(kSoftDirty));
    EXPECT_TRUE(world->mprotect(a + P, P, kR));
    EXPECT_TRUE(world->mmap(a, P, kRW, MapFlags::private_ | MapFlags::anonymous | MapFlags::fixed));
    world.store_pages(a, 1);
    EXPECT_TRUE(world->mprotect(a + P, P, kRW));
    EXPECT_EQ(world.vmas(a, 3), 1u);
    EXPECT_EQ(bits(world, a, 3), expected);
  }
}

TEST(SoftDirty, IsInheritedByAChild) {
  World world("6.12");
  const Addr a = world.alone(2);
  world.store_pages(a, 2);
  EXPECT_TRUE(world->clear_refs(kSoftDirty));
  world.store_pages(a, 1);
  const auto child = world->fork();
  EXPECT_TRUE(child->page(a).soft_dirty);
  EXPECT_FALSE(child->page(a + P).soft_dirty);
  EXPECT_TRUE(child->store(a + P, 1));
  EXPECT_TRUE(child->page(a + P).soft_dirty);
  EXPECT_FALSE(world->page(a + P).soft_dirty);
}

TEST(SoftDirty, IsAbsentOnArm64AndWhereTheKernelIsBuiltWithoutIt) {
  for (const char* kernel : {"arm64/6.12", "6.18+soft-dirty=absent"}) {
    SCOPED_TRACE(kernel);
    World world(kernel);
    const Addr a = world.alone(1);
    world.store_pages(a, 1);
    EXPECT_EQ(bits(world, a, 1), "-");
    EXPECT_TRUE(world->clear_refs(kSoftDirty));
    EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 1); }), 0u);
  }
  EXPECT_FALSE(parse_profile("arm64/6.12+soft-dirty=present"));
}

TEST(ClearRefs, KnowsTheNumbers1To5) {
  World world("6.12");
  for (const int number : {1, 2, 3, 4, 5}) EXPECT_EQ(outcome(world->clear_refs(number)), "ok") << number;
  for (const int number : {-1, 0, 6}) EXPECT_EQ(outcome(world->clear_refs(number)), "EINVAL") << number;
}

}  // namespace
}  // namespace faultline::mm
