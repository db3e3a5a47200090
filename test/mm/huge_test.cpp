// Transparent huge pages: docs/kernel-semantics.md A.6, A.9, B.5 and B.7, counts that no live kernel shows among them.
#include "mm/frame.h"
#include "world.h"

namespace faultline::mm {
namespace {

/// A huge page's worth of untouched memory, aligned and alone.
Addr untouched(World& world, std::uint64_t extra_pages = 0) {
  const Addr room = world.alone(2 * kHugePages + extra_pages);
  const Addr start = huge_floor(room + kHugeBytes - 1);
  EXPECT_TRUE(world->munmap(room, (2 * kHugePages + extra_pages) * P));
  EXPECT_TRUE(world->mmap(start, kHugeBytes + extra_pages * P, kRW,
                          MapFlags::private_ | MapFlags::anonymous | MapFlags::fixed));
  EXPECT_TRUE(world->madvise(start, kHugeBytes, Advice::hugepage));
  return start;
}

std::uint64_t huge_pages(World& world, Addr at) { return world->state(world.range(at, kHugePages)).huge; }

void add_to_pages(World& world, Addr at) {
  for (std::uint64_t i = 0; i < kHugePages; ++i) EXPECT_TRUE(world->atomic_add(at + i * P, 1));
}

struct PopulateRow {
  const char* profile;
  std::uint64_t exceptions;
  std::uint64_t flushes;
};

TEST(HugePages, ArePopulatedByAtomicsInAsManyFaultsAsEachKernelTakes) {
  const PopulateRow rows[] = {
      {"arm64/6.12", 1 + 512, 1 + 512},    {"arm64/6.12+thp=always", 1 + 512, 1 + 512}, {"arm64/7.3", 2, 1},
      {"arm64/6.8+rmw=write-first", 1, 0}, {"arm64/7.3+rmw=write-first", 1, 0},         {"6.12", 1, 0},
      {"6.12+thp=never", 512, 0},
  };
  for (const PopulateRow& row : rows) {
    SCOPED_TRACE(row.profile);
    World world(row.profile);
    const Addr at = untouched(world);
    const std::uint64_t flushes = world.counted(Counter::flushes_ranged);
    EXPECT_EQ(world.during(Counter::exceptions, [&] { add_to_pages(world, at); }), row.exceptions);
    EXPECT_EQ(world.counted(Counter::flushes_ranged) - flushes, row.flushes);
  }
}

TEST(HugePages, ArePopulatedByStoresInOneFaultOnEveryKernel) {
  for (const Profile& profile : presets()) {
    SCOPED_TRACE(profile.name);
    World world(profile.name);
    const Addr at = untouched(world);
    EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(at, kHugePages); }), 1U);
    EXPECT_EQ(huge_pages(world, at), kHugePages);
  }
}

TEST(HugePages, AreNotMappedWhereTheMappingIsTooSmallOrDeclines) {
  World world("6.12+thp=always");
  const Addr at = untouched(world);
  EXPECT_TRUE(world->munmap(at + kHugeBytes - P, P));
  world.store_pages(at, 1);
  EXPECT_EQ(huge_pages(world, at), 0U);
  const Addr other = untouched(world);
  EXPECT_TRUE(world->madvise(other, kHugeBytes, Advice::nohugepage));
  world.store_pages(other, 1);
  EXPECT_EQ(huge_pages(world, other), 0U);
}

TEST(HugePages, AreUpgradedWholeFromLinux62On) {
  // A.9: the row "PMD-mapped THP, exclusive".
  const std::pair<const char*, std::uint64_t> rows[] = {
      {"5.10", 0}, {"5.10+upgrade=page-count", 0}, {"6.1", 0}, {"6.8", 1}, {"arm64/7.3", 1}};
  for (const auto& [profile, upgraded] : rows) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr at = untouched(world);
    world.store_pages(at, kHugePages);
    EXPECT_TRUE(world->mprotect(at, kHugeBytes, kNone));
    EXPECT_EQ(world.during(Counter::ptes_upgraded, [&] { EXPECT_TRUE(world->mprotect(at, kHugeBytes, kRW)); }),
              upgraded);
    EXPECT_EQ(world.during(Counter::fault_reuse, [&] { world.store_pages(at, kHugePages); }), 1 - upgraded);
  }
}

TEST(HugePages, SplitIntoPartsThatAreUpgradedWhereTheyAreExclusive) {
  // A.9: the row "sub-page of PTE-mapped THP"; every part written since the split.
  const std::pair<const char*, std::uint64_t> rows[] = {
      {"5.10", 0}, {"5.10+upgrade=page-count", 0}, {"6.1", 512}, {"6.8", 512}, {"arm64/7.3", 512}};
  for (const auto& [profile, upgraded] : rows) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr at = untouched(world, 1);
    world.store_pages(at, kHugePages);
    EXPECT_EQ(world.during(Counter::huge_splits, [&] { EXPECT_TRUE(world->madvise(at, P, Advice::dontdump)); }), 1U);
    EXPECT_TRUE(world->madvise(at, P, Advice::dodump));
    world.store_pages(at, kHugePages);
    EXPECT_TRUE(world->mprotect(at, kHugeBytes, kNone));
    EXPECT_EQ(world.during(Counter::ptes_upgraded, [&] { EXPECT_TRUE(world->mprotect(at, kHugeBytes, kRW)); }),
              upgraded);
  }
}

TEST(HugePages, OfAnExitedChildAreCopiedOrReusedInPartsAsEachKernelDoes) {
  // A.6: the parts share one count of references, and nobody else holds any when the parent writes them. Where a single
  // reference decides, the last part has it.
  const std::pair<const char*, std::uint64_t> rows[] = {
      {"5.10", 510}, {"6.1", 510}, {"6.12", 511}, {"6.18", 0}, {"arm64/7.3", 0}};
  for (const auto& [profile, copied] : rows) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr at = untouched(world);
    world.store_pages(at, kHugePages);
    auto child = world->fork();
    EXPECT_EQ(world.during(Counter::fault_copy, [&] { world.store_pages(at, 1); }), 1U);
    EXPECT_EQ(huge_pages(world, at), 0U);
    EXPECT_EQ(child->state(world.range(at, kHugePages)).huge, kHugePages);
    child.reset();
    EXPECT_EQ(world.during(Counter::fault_copy, [&] { world.store_pages(at, kHugePages); }), copied);
  }
}

TEST(HugePages, OfAnExitedChildAreReusedWholeWhenNobodySplitThem) {
  for (const Profile& profile : presets()) {
    SCOPED_TRACE(profile.name);
    World world(profile.name);
    const Addr at = untouched(world);
    world.store_pages(at, kHugePages);
    world->fork();
    EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(at, kHugePages); }), 1U);
    EXPECT_EQ(huge_pages(world, at), kHugePages);
  }
}

TEST(HugePages, GiveTheirMemoryAndTablesBack) {
  World world("6.12");
  const Addr at = untouched(world);
  world.store_pages(at, kHugePages);
  EXPECT_EQ(world.system().frames().live(), kHugePages);
  EXPECT_EQ(world.during(Counter::tables_freed, [&] { EXPECT_TRUE(world->madvise(at, kHugeBytes, Advice::dontneed)); }),
            1U);
  EXPECT_EQ(world.system().frames().live(), 0U);
  // A part that is left keeps the memory of the whole.
  world.store_pages(at, 1);
  EXPECT_TRUE(world->munmap(at + P, kHugeBytes - P));
  EXPECT_EQ(world.system().frames().live(), kHugePages);
  EXPECT_TRUE(world->munmap(at, P));
  EXPECT_EQ(world.system().frames().live(), 0U);
}

TEST(HugePages, AreFlushedAsOneEntryEach) {
  World world("6.12");
  const Addr at = untouched(world);
  world.store_pages(at, kHugePages);
  const std::uint64_t full = world.counted(Counter::flushes_full);
  EXPECT_EQ(world.during(Counter::flushes_ranged, [&] { EXPECT_TRUE(world->mprotect(at, kHugeBytes, kR)); }), 1U);
  EXPECT_EQ(world.counted(Counter::flushes_full), full);
}

}  // namespace
}  // namespace faultline::mm
