// vm.overcommit_memory (D.15). What each call is charged for is in shared_memory_test.cpp.
#include "world.h"

namespace faultline::mm {
namespace {

constexpr MapFlags kAnon = MapFlags::private_ | MapFlags::anonymous;
constexpr std::uint64_t kMiB = (1U << 20) / kPageSize;

TEST(Overcommit, IsAnOptionOfAName) {
  const Profile profile = *parse_profile("6.12+overcommit=never+memory=256M");
  EXPECT_EQ(profile.overcommit, Overcommit::never);
  EXPECT_EQ(profile.memory, 256 * kMiB);
  EXPECT_EQ(parse_profile("6.12+commit-limit=1G")->commit_limit, 1024 * kMiB);
  EXPECT_EQ(parse_profile("6.12+memory=4096")->memory, 1U);
  for (const char* name : {"6.12+memory=", "6.12+memory", "6.12+memory=M", "6.12+memory=1X", "6.12+memory=-1",
                           "6.12+memory=99999999T", "6.12+overcommit=2"}) {
    EXPECT_FALSE(parse_profile(name)) << name;
  }
  EXPECT_EQ(parse_profile("6.12+memory=1X").error(), "memory=1X: expected a size, such as 256M");
}

// proc_sys_vm(5): half of the memory (overcommit_ratio 50); of what is free as the kernel boots, a 32nd is kept for the
// administrator, 8 MiB at most, and one for users, 128 MiB at most.
TEST(Overcommit, LeavesHalfOfTheMemoryLessTheReserves) {
  const auto limits = [](const char* name) { return commit_limits(*parse_profile(name)); };
  EXPECT_EQ(limits("6.12").total, CommitLimits::kUnlimited);
  EXPECT_EQ(limits("6.12").machine, CommitLimits::kUnlimited);
  EXPECT_EQ(limits("6.12+memory=64M").machine, 64 * kMiB);
  EXPECT_EQ(limits("6.12+memory=64M").total, (32 - 2) * kMiB);
  EXPECT_EQ(limits("6.12+memory=64M").user_reserve, 2 * kMiB);
  EXPECT_EQ(limits("6.12+memory=16G").total, (8192 - 8) * kMiB);
  EXPECT_EQ(limits("6.12+memory=16G").user_reserve, 128 * kMiB);
  EXPECT_EQ(limits("6.12+memory=64M+commit-limit=60M").total, (60 - 2) * kMiB);
  EXPECT_EQ(limits("6.12+commit-limit=4M").total, 0U);
}

TEST(Overcommit, KeepsAProcessFromTheLastThirtySecondOfWhatItMaps) {
  const auto fits = [](std::uint64_t mapped) {
    World world("6.12", {.overcommit = Overcommit::never, .commit_limits = {{.total = 50, .user_reserve = 2}}});
    EXPECT_TRUE(world->mmap({}, mapped * P, kR, kAnon));
    std::uint64_t pages = 0;
    while (world->mmap({}, P, kRW, kAnon)) ++pages;
    return pages;
  };
  // Fewer than 50, less min(mapped / 32, 2).
  EXPECT_EQ(fits(1), 48U);    // 49 are mapped then, and one is kept
  EXPECT_EQ(fits(640), 47U);  // 20 would be kept, but 2 at most
}

TEST(Overcommit, RefusesToForkWhatItCannotPromiseTwice) {
  World world("6.12", {.overcommit = Overcommit::never, .commit_limits = {{.total = 100}}});
  const Addr low = *world->mmap(Addr{0x10000000}, 10 * P, kRW, kAnon | MapFlags::fixed);
  const Addr high = *world->mmap(Addr{0x20000000}, 60 * P, kRW, kAnon | MapFlags::fixed);
  world.store_pages(low, 10);
  world.store_pages(high, 1);
  EXPECT_EQ(world->fork(), nullptr);
  world.check();
  EXPECT_EQ(world.system().commit().charged(), 70);
  // The lower mapping was shared for a moment, and its pages have lost what lets them be written.
  EXPECT_EQ(world.during(Counter::minor_faults, [&] { world.store_pages(low, 10); }), 10U);
  EXPECT_EQ(world.during(Counter::minor_faults, [&] { world.store_pages(high, 1); }), 0U);
  ASSERT_TRUE(world->madvise(high, 60 * P, Advice::dontfork));
  const auto child = world->fork();
  ASSERT_NE(child, nullptr);
  EXPECT_EQ(world.system().commit().charged(), 80);
}

TEST(Overcommit, AlwaysPromisesEverything) {
  World world("6.12+overcommit=always+memory=1M");
  EXPECT_TRUE(world->mmap({}, std::uint64_t{1} << 40, kRW, kAnon));
  EXPECT_NE(world->fork(), nullptr);
}

}  // namespace
}  // namespace faultline::mm
