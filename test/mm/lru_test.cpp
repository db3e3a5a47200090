// When new pages reach the LRU lists, and what becomes of those that are unmapped before: lru_add_drain() and
// folio_batch_move_lru() of each kernel. What guards cost that are installed over pages, guards and nothing.
#include "world.h"

namespace faultline::mm {
namespace {

TEST(Lru, NewPagesGatherInBatches) {
  for (const auto& [kernel, batch] : {std::pair("6.1", 15), std::pair("6.12", 31), std::pair("7.3", 31)}) {
    World world(kernel);
    const Addr a = world.alone(40);
    EXPECT_EQ(world.during(Counter::lru_added, [&] { world.store_pages(a, batch - 1); }), 0) << kernel;
    EXPECT_EQ(world.during(Counter::lru_added, [&] { world.store_pages(a, batch); }), batch) << kernel;
  }
}

TEST(Lru, BeforeUnmappingTheBatchIsEmptied) {
  for (const char* kernel : {"5.10", "6.1", "6.12"}) {
    World world(kernel);
    const Addr a = world.alone(10);
    world.store_pages(a, 10);
    const auto discard = [&] { EXPECT_TRUE(world->madvise(a, 10 * P, Advice::dontneed)); };
    EXPECT_EQ(world.during(Counter::lru_added, discard), 10) << kernel;
    EXPECT_EQ(world.counted(Counter::pages_freed), 10) << kernel;
    EXPECT_EQ(world.counted(Counter::lru_spared), 0) << kernel;
  }
}

TEST(Lru, From73OnPagesThatAreUnmappedOnTheirBatchAreFreedWithIt) {
  World world("7.3");
  const Addr a = world.alone(40);
  world.store_pages(a, 10);
  const auto discard = [&] { EXPECT_TRUE(world->madvise(a, 4 * P, Advice::dontneed)); };
  EXPECT_EQ(world.during(Counter::pages_unmapped, discard), 4);
  EXPECT_EQ(world.counted(Counter::pages_freed), 0);
  EXPECT_EQ(world.counted(Counter::lru_added), 0);
  // The batch has room for 31, and what is dead still takes its place.
  world.store_pages(a + 10 * P, 20);
  EXPECT_EQ(world.counted(Counter::lru_added), 0);
  world.store_pages(a + 30 * P, 1);
  EXPECT_EQ(world.counted(Counter::lru_added), 27);
  EXPECT_EQ(world.counted(Counter::lru_spared), 4);
  EXPECT_EQ(world.counted(Counter::pages_freed), 0);
}

TEST(Lru, From73OnPagesOfMadvFreeThatAreUnmappedOnTheirBatchAreFreedWithIt) {
  World world("7.3");
  const Addr a = world.alone(40);
  world.store_pages(a, 20);
  EXPECT_TRUE(world->madvise(a, 20 * P, Advice::free));
  EXPECT_EQ(world.counted(Counter::lru_added), 20);
  EXPECT_EQ(world.counted(Counter::pages_lazyfreed), 0);
  EXPECT_TRUE(world->madvise(a, 20 * P, Advice::dontneed));
  EXPECT_EQ(world.counted(Counter::pages_freed), 0);
  // The next MADV_FREE empties it.
  EXPECT_TRUE(world->madvise(a, 20 * P, Advice::free));
  EXPECT_EQ(world.counted(Counter::pages_lazyfreed), 20);
  EXPECT_EQ(world.counted(Counter::pages_freed), 20);
}

TEST(Lru, FromKernel518OnPopulatingEmptiesTheBatch) {
  for (const auto& [kernel, added] : {std::pair("5.10", 0), std::pair("6.1", 5), std::pair("7.3", 5)}) {
    World world(kernel);
    const auto populate = [&] { world.alone(5, kRW, MapFlags::populate); };
    EXPECT_EQ(world.during(Counter::lru_added, populate), added) << kernel;
  }
}

// madvise_willneed(): what it may have read in is to be on the lists. By the instructions of vm:6.12 and vm:7.3, the
// first MADV_WILLNEED after pages were made pays for them (train/advise.fl), as long as nothing else has.
TEST(Lru, WillneedEmptiesTheBatch) {
  for (const char* kernel : {"5.10", "6.1", "6.12", "7.3"}) {
    World world(kernel);
    const Addr a = world.alone(10);
    world.store_pages(a, 8);
    const auto advise = [&] { EXPECT_TRUE(world->madvise(a, P, Advice::willneed)); };
    EXPECT_EQ(world.during(Counter::lru_added, advise), 8) << kernel;
    EXPECT_EQ(world.during(Counter::lru_added, advise), 0) << kernel;
  }
}

TEST(Lru, LockedPagesAreMovedABatchAtATimeFrom518On) {
  for (const auto& [kernel, batches] : {std::pair("6.1", 2), std::pair("6.12", 1)}) {
    World world(kernel);
    const Addr a = world.alone(40);
    world.store_pages(a, 20);
    EXPECT_TRUE(world->mlock(a, 40 * P));
    // Those that were there, and those that were populated, each of which is new.
    EXPECT_EQ(world.counted(Counter::mlock_moved), 20 + 20) << kernel;
    EXPECT_EQ(world.counted(Counter::lru_added), 20) << kernel;
    EXPECT_EQ(world.counted(Counter::mlock_batches), 2 * batches) << kernel;
    // Pages of locked memory wait for the list that they leave, and are freed with the batch: at the call's end.
    const auto unmap = [&] { EXPECT_TRUE(world->munmap(a, 40 * P)); };
    EXPECT_EQ(world.during(Counter::mlock_moved, unmap), 40) << kernel;
    EXPECT_EQ(world.counted(Counter::pages_freed), 40) << kernel;
  }
  World world("5.10");
  EXPECT_TRUE(world->mlock(world.alone(40), 40 * P));
  EXPECT_EQ(world.counted(Counter::mlock_moved), 0);
}

TEST(Lru, From73OnLockedPagesThatAreUnmappedAreFreedByWhoeverEmptiesTheirBatch) {
  World world("7.3");
  const Addr a = world.alone(40);
  EXPECT_TRUE(world->mlock(a, 40 * P));
  EXPECT_TRUE(world->munmap(a + 4 * P, 20 * P));
  EXPECT_EQ(world.counted(Counter::pages_freed), 0);
  const auto unlock = [&] { EXPECT_TRUE(world->munlock(a, 2 * P)); };
  EXPECT_EQ(world.during(Counter::mlock_moved, unlock), 20 + 2);
  EXPECT_EQ(world.counted(Counter::pages_freed), 20);
}

TEST(Lru, APageThatWasLockedAndUnmappedWhileItWaitedIsFreedOnce) {
  World world("7.3");
  const Addr a = world.alone(4);
  EXPECT_TRUE(world->mlock(a, 4 * P, LockFlags::onfault));
  world.store_pages(a, 4);
  EXPECT_TRUE(world->munmap(a, 4 * P));
  // New in locked memory, and no longer locked: twice on the batch.
  const Addr b = world.alone(1);
  const auto lock = [&] { EXPECT_TRUE(world->mlock(b, P)); };
  EXPECT_EQ(world.during(Counter::mlock_moved, lock), 4 + 4 + 1);
  EXPECT_EQ(world.counted(Counter::pages_freed), 4);
}

TEST(GuardInstall, BeginsAgainWhereItMeetsAPage) {
  World world("7.3");
  const Addr a = world.alone(20);
  EXPECT_TRUE(world->madvise(a, 2 * P, Advice::guard_install));
  EXPECT_EQ(world.counted(Counter::guards_made), 2);
  EXPECT_EQ(world.counted(Counter::ptes_scanned), 0) << "nothing is zapped";
  world.store_pages(a + 5 * P, 1);
  EXPECT_TRUE(world->madvise(a, 10 * P, Advice::guard_install));
  // Two were there, three were made before the page was met; then all ten are passed, five of them guards by now.
  EXPECT_EQ(world.counted(Counter::guards_made), 2 + 3 + 5);
  EXPECT_EQ(world.counted(Counter::guards_found), 2 + 5);
  EXPECT_EQ(world.counted(Counter::pages_unmapped), 1);
}

}  // namespace
}  // namespace faultline::mm
