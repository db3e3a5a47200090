// Which lock a fault takes (docs/locks.md); the kernels are asked in test/vm/locks_test.cpp.
#include "world.h"

namespace faultline::mm {
namespace {

/// "mmap_lock" or "vma".
template <class Act>
std::string lock_of(World& world, Act act) {
  const std::uint64_t read = world.counted(Counter::mmap_lock_read);
  const std::uint64_t vma = world.counted(Counter::vma_lock);
  act();
  if (world.counted(Counter::mmap_lock_read) == read + 1 && world.counted(Counter::vma_lock) == vma) return "mmap_lock";
  return world.counted(Counter::vma_lock) == vma + 1 && world.counted(Counter::mmap_lock_read) == read ? "vma" : "?";
}

TEST(Locks, OfAForbiddenAccessAreTheVmasFrom610On) {
  for (const auto& [profile, lock] :
       {std::pair{"6.1", "mmap_lock"}, {"6.8", "mmap_lock"}, {"6.12", "vma"}, {"arm64/6.12", "vma"}, {"7.3", "vma"}}) {
    World world(profile);
    const Addr a = world.alone(2);
    world.store_pages(a, 1);
    ASSERT_TRUE(world->mprotect(a, 2 * P, kR));
    EXPECT_EQ(lock_of(world, [&] { EXPECT_FALSE(world->store(a, 1)); }), lock) << profile;
    const Addr untouched = world.alone(1, kR);
    EXPECT_EQ(lock_of(world, [&] { EXPECT_FALSE(world->store(untouched, 1)); }), lock) << profile;
  }
}

TEST(Locks, OfTheKernelsOwnFaultsAreMmapLockOnEveryKernel) {
  for (const Profile& profile : presets()) {
    World world(profile.name);
    const Addr a = world.alone(3);
    world.store_pages(a, 1);
    std::uint8_t byte = 0;
    EXPECT_EQ(lock_of(world, [&] { EXPECT_EQ(world->copy_from_user({&byte, 1}, a + P), 1U); }), "mmap_lock");
    EXPECT_EQ(lock_of(world, [&] { EXPECT_EQ(world->copy_to_user(a + 2 * P, {&byte, 1}), 1U); }), "mmap_lock");
  }
}

}  // namespace
}  // namespace faultline::mm
