// Which pages become active as the kernel populates them. Expected is what 5.10.223 executes of __activate_page, 184
// instructions a page, in programs/calibration/train/lock.fl and held-out/tuning.fl.
#include "world.h"

namespace faultline::mm {
namespace {

class Touch : public testing::Test {
 protected:
  std::uint64_t activated_by_mlock(Addr a, std::uint64_t pages) {
    return world_.during(Counter::pages_activated, [&] { EXPECT_TRUE(world_->mlock(a, pages * P)); });
  }

  World world_{"5.10"};
};

TEST_F(Touch, ASecondTimeActivatesAPageUnlessItIsLocked) {
  const Addr a = world_.alone(128);
  world_.store_pages(a, 128);
  EXPECT_EQ(activated_by_mlock(a, 128), 0) << "lock.fl:27";
  EXPECT_EQ(activated_by_mlock(a, 128), 0) << "lock.fl:28";
  EXPECT_TRUE(world_->munlock(a, 128 * P));
  EXPECT_EQ(activated_by_mlock(a, 1), 1) << "lock.fl:30";
  EXPECT_TRUE(world_->munlock(a, P));
  EXPECT_EQ(activated_by_mlock(a + 16 * P, 32), 32) << "lock.fl:32";
  EXPECT_TRUE(world_->munlock(a + 16 * P, 32 * P));
  EXPECT_EQ(activated_by_mlock(a + 16 * P, 32), 0) << "active already";
}

TEST_F(Touch, PagesThatWereLockedOnceAreActivatedAmongOthersThatWereNot) {
  const Addr a = world_.alone(160);
  world_.store_pages(a, 160);
  EXPECT_EQ(activated_by_mlock(a + 20 * P, 70), 0) << "tuning.fl:47";
  EXPECT_TRUE(world_->munlock(a + 20 * P, 70 * P));
  EXPECT_EQ(activated_by_mlock(a, 160), 70) << "tuning.fl:49 takes 12,880";
}

TEST(TouchOfNewerKernels, PagesThatAreThereAreLockedFirstAndSoNeverActivated) {
  // train/lock.fl on 6.1.176: locking 32 pages a second time takes 1,762 instructions a page with its two splits, 128
  // pages for the first time 1,221; tuning.fl:49, where 70 pages of 160 were locked before, 1,190.
  World world("6.1");
  const Addr a = world.alone(128);
  world.store_pages(a, 128);
  const auto lock = [&] { EXPECT_TRUE(world->mlock(a, 128 * P)); };
  EXPECT_EQ(world.during(Counter::pages_activated, lock), 0);
  EXPECT_TRUE(world->munlock(a, 128 * P));
  EXPECT_EQ(world.during(Counter::pages_activated, lock), 0);
}

TEST_F(Touch, MadvFreeForgetsIt) {
  const Addr a = world_.alone(16);
  world_.store_pages(a, 16);
  EXPECT_EQ(activated_by_mlock(a, 16), 0);
  EXPECT_TRUE(world_->munlock(a, 16 * P));
  EXPECT_TRUE(world_->madvise(a, 16 * P, Advice::free));
  world_.store_pages(a, 16);
  EXPECT_EQ(activated_by_mlock(a, 16), 0);
}

}  // namespace
}  // namespace faultline::mm
