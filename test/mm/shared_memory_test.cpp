// Shared memory and memfds beyond what programs/ can see: which pages a fault maps, what merges, who pays for a
// truncation, and what is charged against the commit limit.
#include "mm/file_io.h"
#include "world.h"

namespace faultline::mm {
namespace {

constexpr MapFlags kShared = MapFlags::shared;
constexpr MapFlags kPrivate = MapFlags::private_;
constexpr MapFlags kAnonymous = MapFlags::anonymous;

File file_of(World& world, std::uint64_t pages) {
  const File file = *memfd_create(world.system(), MemfdFlags::none);
  EXPECT_TRUE(world->ftruncate(file, pages * P));
  return file;
}

void fill(World& world, const File& file, std::uint64_t pages) {
  const Addr all = *world->mmap({}, pages * P, kRW, kShared, &file);
  world.store_pages(all, pages);
  EXPECT_TRUE(world->munmap(all, pages * P));
}

TEST(FaultAround, AReadMapsTheCachedPagesOfItsAligned64KiBInsideItsMapping) {
  World world("6.18");
  const File file = file_of(world, 64);
  fill(world, file, 64);
  const Addr base{0x40000000};
  // Two pages into a window of 16, the mapping begins; the window of a fault on the first pages ends 16 pages after
  // that.
  const Addr a = *world->mmap(base + 2 * P, 40 * P, kRW, kShared | MapFlags::fixed, &file);
  EXPECT_TRUE(world->load(a + 3 * P));
  EXPECT_EQ(world.present(a, 40), 16u);
  EXPECT_TRUE(world->load(base + 20 * P));
  EXPECT_EQ(world.present(a, 40), 30u);  // to page 32, where the window of page 20 ends
  EXPECT_TRUE(world->load(base + 41 * P));
  EXPECT_EQ(world.present(a, 40), 40u);
}

TEST(FaultAround, AWriteMapsOnePageAndAReadOfAHoleMakesOne) {
  World world("6.18");
  const File file = file_of(world, 16);
  const Addr a = *world->mmap({}, 16 * P, kRW, kShared, &file);
  EXPECT_TRUE(world->store(a + P, 1));
  EXPECT_EQ(world.present(a, 16), 1u);
  EXPECT_TRUE(world->load(a + 5 * P));
  EXPECT_EQ(world.present(a, 16), 2u);
  EXPECT_EQ(file.object->cached(), 2u);
}

TEST(FileMappings, MergeWhereTheyContinueTheSameFile) {
  World world("6.18");
  const File file = file_of(world, 8);
  const File other = file_of(world, 8);
  const Addr a{0x40000000};
  const auto map = [&](std::uint64_t page, const File& of, std::uint64_t offset) {
    EXPECT_TRUE(world->mmap(a + page * P, P, kRW, kShared | MapFlags::fixed, &of, offset * P));
  };
  map(0, file, 0);
  map(1, file, 1);
  EXPECT_EQ(world.vmas(a, 2), 1u);
  map(2, file, 5);
  EXPECT_EQ(world.vmas(a, 3), 2u);
  map(3, other, 6);
  EXPECT_EQ(world.vmas(a, 4), 3u);
  // Each shared anonymous mapping has an object of its own, which its parts share.
  const Addr s{0x50000000};
  for (const std::uint64_t page : {0, 1}) {
    EXPECT_TRUE(world->mmap(s + 2 * page * P, 2 * P, kRW, kShared | kAnonymous | MapFlags::fixed));
  }
  EXPECT_EQ(world.vmas(s, 4), 2u);
  EXPECT_TRUE(world->mprotect(s + P, P, kR));
  EXPECT_EQ(world.vmas(s, 4), 3u);
  EXPECT_TRUE(world->mprotect(s + P, P, kRW));
  EXPECT_EQ(world.vmas(s, 4), 2u);
}

TEST(FileMappings, KeepTheirOffsetWhenTheyMoveAndCanBeDoubledIfShared) {
  World world("6.18");
  const File file = file_of(world, 8);
  const Addr a = *world->mmap({}, 4 * P, kRW, kShared, &file, 2 * P);
  EXPECT_TRUE(world->store(a, 7));
  const Addr twin = *world->mremap(a, 0, 2 * P, RemapFlags::maymove);
  EXPECT_TRUE(world->load(twin));
  EXPECT_EQ(world->peek(twin), 7);
  const Addr moved = *world->mremap(a, 4 * P, 4 * P, RemapFlags::maymove | RemapFlags::dontunmap);
  EXPECT_EQ(world->peek(moved), 7);
  EXPECT_EQ(outcome(world->mremap(a, 0, P, RemapFlags::none)), "ENOMEM");
  const Addr p = *world->mmap({}, P, kRW, kPrivate, &file);
  EXPECT_EQ(outcome(world->mremap(p, 0, P, RemapFlags::maymove)), "EINVAL");
}

TEST(FileMappings, LeftBehindByDontunmapOnlyFrom513On) {
  for (const auto& [profile, expected] : {std::pair{"5.10", "EINVAL"}, {"6.1", "ok"}, {"7.3", "ok"}}) {
    World world(profile);
    const File file = file_of(world, 2);
    const Addr a = *world->mmap({}, 2 * P, kRW, kShared, &file);
    EXPECT_EQ(outcome(world->mremap(a, 2 * P, 2 * P, RemapFlags::maymove | RemapFlags::dontunmap)), expected)
        << profile;
  }
}

TEST(Truncation, IsSeenByEveryProcessAndPaidByTheOneThatCalls) {
  World world("6.12");
  const File file = file_of(world, 4);
  const Addr a = *world->mmap({}, 4 * P, kRW, kShared, &file);
  const Addr p = *world->mmap({}, 4 * P, kRW, kPrivate, &file);
  world.store_pages(a, 4);
  world.store_pages(p, 4, 9);
  const auto child = world->fork();
  EXPECT_TRUE(child->load(a));  // 4 pages around
  const Counters before = child->counters();
  EXPECT_EQ(world.during(Counter::ptes_changed, [&] { EXPECT_TRUE(world->ftruncate(file, P)); }), 12u);
  EXPECT_EQ(child->counters(), before);
  EXPECT_EQ(child->state(world.range(a, 4)).present, 1u);
  EXPECT_EQ(child->state(world.range(p, 4)).present, 1u);
  EXPECT_EQ(child->load(p + P).error().number, kSigBus);
}

TEST(Commit, IsChargedForPrivateWritableAndSharedMemoryAndGivenBack) {
  World world("6.18", {.overcommit = Overcommit::never, .commit_limits = {{.total = 100}}});
  const Commit& commit = world.system().commit();
  const Addr a = *world->mmap({}, 10 * P, kRW, kPrivate | kAnonymous);
  EXPECT_EQ(commit.charged(), 10);
  EXPECT_TRUE(world->mmap({}, 10 * P, kR, kPrivate | kAnonymous));
  EXPECT_EQ(commit.charged(), 10);
  const Addr s = *world->mmap({}, 10 * P, kR, kShared | kAnonymous);
  EXPECT_EQ(commit.charged(), 20);
  // In this mode MAP_NORESERVE is passed over.
  const Addr n = *world->mmap({}, 10 * P, kRW, kPrivate | kAnonymous | MapFlags::noreserve);
  EXPECT_EQ(commit.charged(), 30);
  // Losing write gives the charge of untouched memory back; of touched memory it does not, and it is not taken twice.
  EXPECT_TRUE(world->mprotect(n, 10 * P, kR));
  EXPECT_EQ(commit.charged(), 20);
  EXPECT_TRUE(world->mprotect(n, 5 * P, kRW));
  EXPECT_EQ(commit.charged(), 25);
  EXPECT_TRUE(world->store(a, 1));
  EXPECT_TRUE(world->mprotect(a, 10 * P, kR));
  EXPECT_TRUE(world->mprotect(a, 10 * P, kRW));
  EXPECT_EQ(commit.charged(), 25);
  const Addr grown = *world->mremap(a, 10 * P, 20 * P, RemapFlags::maymove);
  EXPECT_EQ(commit.charged(), 35);
  {
    const auto child = world->fork();
    EXPECT_EQ(commit.charged(), 60);
  }
  EXPECT_TRUE(world->munmap(grown, 15 * P));
  EXPECT_EQ(commit.charged(), 20);
  EXPECT_TRUE(world->munmap(s, 10 * P));
  EXPECT_EQ(commit.charged(), 10);
}

TEST(Commit, RefusesWhatIsBeyondTheLimitAndLeavesWhatTheKernelLeaves) {
  const auto wanted = MapFlags::fixed | kPrivate | kAnonymous;
  for (const auto& [profile, stays] : {std::pair{"5.10", false}, {"6.8", false}, {"6.12", true}, {"7.3", true}}) {
    World world(profile, {.overcommit = Overcommit::never, .commit_limits = {{.total = 20}}});
    const Addr a = *world->mmap({}, 10 * P, kR, kPrivate | kAnonymous);
    EXPECT_EQ(outcome(world->mprotect(a, 10 * P, kRW)), "ok");
    EXPECT_EQ(outcome(world->mmap({}, 10 * P, kRW, kPrivate | kAnonymous)), "ENOMEM");
    EXPECT_EQ(outcome(world->mmap({}, 10 * P, kR, kShared | kAnonymous)), "ENOMEM");
    EXPECT_EQ(outcome(world->mremap(a, 10 * P, 20 * P, RemapFlags::maymove)), "ENOMEM");
    const Addr r = *world->mmap({}, 30 * P, kR, kPrivate | kAnonymous);
    EXPECT_EQ(outcome(world->mprotect(r, 30 * P, kRW)), "ENOMEM");
    EXPECT_EQ(world->protection(r), kR);
    EXPECT_EQ(outcome(world->mmap(r, 30 * P, kRW, wanted)), "ENOMEM");
    EXPECT_EQ(world->protection(r).has_value(), stays) << profile;
    EXPECT_EQ(world.system().commit().charged(), 10);
  }
}

TEST(Commit, LetsAMemfdFillPageByPage) {
  World world("6.18", {.overcommit = Overcommit::never, .commit_limits = {{.total = 4}}});
  const File file = file_of(world, 8);
  const Addr a = *world->mmap({}, 8 * P, kRW, kShared, &file);
  EXPECT_TRUE(world->store(a, 1));
  EXPECT_TRUE(world->store(a + P, 1));
  const Addr buffer = *world->mmap({}, P, kRW, kPrivate | kAnonymous);
  EXPECT_EQ(world->store(a + 2 * P, 1).error().number, kSigBus);
  EXPECT_EQ(outcome(write_file(*world, file, 4 * P, buffer, 10)), "ENOSPC");
  EXPECT_TRUE(world->ftruncate(file, P));
  EXPECT_EQ(outcome(write_file(*world, file, 4 * P, buffer, 10)), "ok");
}

TEST(Commit, ByHeuristicRefusesOnlyWhatIsByItselfMoreThanTheMachineHas) {
  World world("6.18", {.commit_limits = {{.machine = 100}}});
  EXPECT_EQ(outcome(world->mmap({}, 101 * P, kRW, kPrivate | kAnonymous)), "ENOMEM");
  EXPECT_TRUE(world->mmap({}, 101 * P, kRW, kPrivate | kAnonymous | MapFlags::noreserve));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(world->mmap({}, 100 * P, kRW, kPrivate | kAnonymous));
}

TEST(Limits, OfTheHeapAreThoseOfData) {
  World world("6.18");
  const Addr heap = world->brk({});
  EXPECT_EQ(world->brk(heap + 4 * P), heap + 4 * P);
  EXPECT_TRUE(world->set_limit(Resource::data, {.soft = 4 * P}));
  EXPECT_EQ(world->brk(heap + 5 * P), heap + 4 * P);
  EXPECT_EQ(world->brk(heap + P), heap + P);
  EXPECT_TRUE(world->mlockall(LockAllFlags::future));
  EXPECT_TRUE(world->set_limit(Resource::memlock, {.soft = P}));
  EXPECT_EQ(world->brk(heap + 3 * P), heap + P);
}

}  // namespace
}  // namespace faultline::mm
