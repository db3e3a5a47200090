// The small cases with their right outcome, from public reports, each run on Linux 6.18: here on model:6.18.
#include "world.h"

namespace faultline::mm {
namespace {

TEST(Cases, AMiddlePageSplitsAndMergesAgain) {
  for (const bool touched : {false, true}) {
    World world("6.18");
    const Prot prot = touched ? kRW : kR;
    const Addr a = world.alone(3, prot);
    if (touched) world.store_pages(a, 3);
    EXPECT_EQ(world.vmas(a, 3), 1u);
    EXPECT_TRUE(world->mprotect(a + P, P, touched ? kR : kRW));
    EXPECT_EQ(world.vmas(a, 3), 3u);
    EXPECT_TRUE(world->mprotect(a + P, P, prot));
    EXPECT_EQ(world.vmas(a, 3), 1u);
  }
}

TEST(Cases, TheMapLimitHoldsExactly) {
  World world("6.18");
  for (int i = 0; i < 24; ++i) world.alone(1);
  const Addr a = world.alone(140000, kRW, MapFlags::noreserve);
  ASSERT_EQ(world->vma_count(), 25u);
  std::uint64_t calls = 0;
  Result<void> result;
  while (result) {
    if (calls == 32752) {
      EXPECT_EQ(world->vma_count(), 65529u);
    }
    result = world->mprotect(a + (2 * calls + 1) * P, P, kR);
    ++calls;
  }
  EXPECT_EQ(calls, 32753u);
  EXPECT_EQ(outcome(result), "ENOMEM");
  EXPECT_EQ(world->vma_count(), 65530u);

  const Addr tail = a + 100000 * P;
  EXPECT_EQ(outcome(world->munmap(tail, P)), "ENOMEM");
  EXPECT_TRUE(world->mprotect(a + P, P, kRW));  // merges with both sides
  EXPECT_EQ(world->vma_count(), 65528u);
  EXPECT_TRUE(world->mprotect(a + P, P, kR));
  EXPECT_EQ(world->vma_count(), 65530u);
  EXPECT_TRUE(world->munmap(a + 3 * P, P));  // a whole VMA
  EXPECT_EQ(world->vma_count(), 65529u);
  world.alone(1);
  world.alone(1);
  EXPECT_EQ(world->vma_count(), 65531u);
  EXPECT_EQ(outcome(world->mmap(Addr{0}, P, kR, MapFlags::private_ | MapFlags::anonymous)), "ENOMEM");
  EXPECT_EQ(world->fork()->vma_count(), 65531u);
}

TEST(Cases, HolesFailWhereEachCallSaysSo) {
  World world("6.18");
  const Addr a = world.alone(4);
  world.store_pages(a, 4);
  EXPECT_TRUE(world->munmap(a + P, P));
  EXPECT_EQ(outcome(world->mprotect(a, 4 * P, kR)), "ENOMEM");
  EXPECT_EQ(world->protection(a), kR);
  EXPECT_EQ(world->protection(a + 2 * P), kRW);
  EXPECT_EQ(outcome(world->madvise(a, 4 * P, Advice::dontneed)), "ENOMEM");
  EXPECT_EQ(world.present(a, 4), 0u);
  EXPECT_EQ(outcome(world->mseal(a, 4 * P, 0)), "ENOMEM");
  EXPECT_TRUE(world->munmap(a, 4 * P));

  EXPECT_EQ(outcome(world->mprotect(a, P, kR)), "ENOMEM");
  EXPECT_EQ(outcome(world->mprotect(a, 0, kR)), "ok");
  EXPECT_EQ(outcome(world->mprotect(a + 1, P, kR)), "EINVAL");
  EXPECT_EQ(outcome(world->munmap(a, P)), "ok");
  EXPECT_EQ(outcome(world->munmap(a, 0)), "EINVAL");
}

TEST(Cases, ProtNoneFreesNothing) {
  World world("6.18");
  const Addr a = world.alone(1024);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 1024, 7); }), 1024u);
  EXPECT_TRUE(world->mprotect(a, 1024 * P, kNone));
  EXPECT_EQ(world.present(a, 1024), 1024u);
  EXPECT_TRUE(world->mprotect(a, 1024 * P, kRW));
  EXPECT_EQ(world.during(Counter::exceptions,
                         [&] {
                           world.load_pages(a, 1024);
                           world.store_pages(a, 1024, 7);
                         }),
            0u);
  EXPECT_EQ(world->peek(a + 5 * P), 7);
  EXPECT_TRUE(world->madvise(a, 1024 * P, Advice::dontneed));
  EXPECT_EQ(world.present(a, 1024), 0u);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.load_pages(a, 1024); }), 1024u);
  EXPECT_EQ(world->load(a + 5 * P), 0);
}

TEST(Cases, FreeKeepsThePagesAndDontneedDoesNot) {
  World world("6.18");
  const Addr a = world.alone(1024);
  world.store_pages(a, 1024);
  EXPECT_TRUE(world->madvise(a, 1024 * P, Advice::free));
  EXPECT_EQ(world.present(a, 1024), 1024u);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 1024); }), 0u);
  EXPECT_TRUE(world->madvise(a, 1024 * P, Advice::dontneed));
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 1024); }), 1024u);
}

TEST(Cases, GuardRegionsMakeNoVmas) {
  World world("6.18");
  const Addr a = world.alone(300 * 81);
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(world->madvise(a + i * 81 * P, P, Advice::guard_install));
  EXPECT_EQ(world.vmas(a, 300 * 81), 1u);
  const auto hit = world->store(a + 81 * P, 1);
  ASSERT_FALSE(hit);
  EXPECT_EQ(hit.error(), (Signal{kSigSegv, kSegvMapErr, a + 81 * P}));
  EXPECT_TRUE(world->madvise(a, 81 * P, Advice::dontneed));
  EXPECT_TRUE(world->mprotect(a, 81 * P, kR));
  EXPECT_TRUE(world->mprotect(a, 81 * P, kRW));
  EXPECT_FALSE(world->load(a));
  EXPECT_TRUE(world->madvise(a, P, Advice::guard_remove));
  EXPECT_EQ(world->load(a), 0);

  const Addr b = world.alone(300 * 81);
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(world->mprotect(b + i * 81 * P, P, kNone));
  EXPECT_EQ(world.vmas(b, 300 * 81), 600u);
  const auto denied = world->store(b, 1);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, kSegvAccErr);
}

TEST(Cases, TheKernelsOwnWritesStopWithoutASignal) {
  World world("6.18");
  const Addr a = world.alone(2);
  world.store_pages(a, 2);
  EXPECT_TRUE(world->mprotect(a + P, P, kR));
  EXPECT_EQ(world->clear_user(a + P, 10), 0u);
  EXPECT_EQ(world->clear_user(a, 2 * P), P);
}

TEST(Cases, ReadingFirstCostsASecondFault) {
  World world("6.18");
  const Addr a = world.alone(1024);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.load_pages(a, 1024); }), 1024u);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 1024); }), 1024u);
  const Addr b = world.alone(1024);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(b, 1024); }), 1024u);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.load_pages(b, 1024); }), 0u);
}

TEST(Cases, PopulatingCountsAsMinorFaultsAndNotAsExceptions) {
  World world("6.18");
  const auto faults_of = [&](auto&& act) {
    const std::uint64_t exceptions = world.counted(Counter::exceptions);
    const std::uint64_t minor = world.during(Counter::minor_faults, act);
    return std::pair(world.counted(Counter::exceptions) - exceptions, minor);
  };
  const std::pair<std::uint64_t, std::uint64_t> kernel_only{0, 1024};
  const Addr a = world.alone(1024);
  EXPECT_EQ(faults_of([&] { EXPECT_TRUE(world->madvise(a, 1024 * P, Advice::populate_write)); }), kernel_only);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 1024); }), 0u);
  EXPECT_EQ(faults_of([&] { world.alone(1024, kRW, MapFlags::populate); }), kernel_only);
  const Addr c = world.alone(1024);
  EXPECT_EQ(faults_of([&] { EXPECT_TRUE(world->mlock(c, 1024 * P)); }), kernel_only);
  const Addr d = world.alone(1024);
  const std::pair<std::uint64_t, std::uint64_t> both{1024, 1024};
  EXPECT_EQ(faults_of([&] { EXPECT_EQ(world->clear_user(d, 1024 * P), 1024 * P); }), both);
}

}  // namespace
}  // namespace faultline::mm
