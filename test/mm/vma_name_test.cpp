// PR_SET_VMA_ANON_NAME (D.10).
#include "world.h"

namespace faultline::mm {
namespace {

TEST(VmaNames, KeepNeighboursApartUntilTheyAreEqual) {
  World world("6.12+vma-naming=anonymous");
  const Addr a = world.alone(4);
  const Range all = Range::of(a, 4 * P);
  ASSERT_TRUE(world->set_vma_name(a + P, P, "heap"));
  EXPECT_EQ(world->state(all).vmas, 3U);
  EXPECT_EQ(world->vma_name(a + P), "heap");
  EXPECT_EQ(world->vma_name(a), "");
  ASSERT_TRUE(world->set_vma_name(a, 4 * P, "heap"));
  EXPECT_EQ(world->state(all).vmas, 1U);
  ASSERT_TRUE(world->set_vma_name(a, P, std::nullopt));
  EXPECT_EQ(world->state(all).vmas, 2U);
  EXPECT_EQ(world->check(), std::nullopt);
}

TEST(VmaNames, StayThroughSplitForkAndMremap) {
  World world("6.12+vma-naming=anonymous");
  const Addr a = world.alone(4);
  ASSERT_TRUE(world->set_vma_name(a, 4 * P, "heap"));
  ASSERT_TRUE(world->mprotect(a + P, P, Prot::read));
  EXPECT_EQ(world->vma_name(a + 2 * P), "heap");
  const auto child = world->fork();
  EXPECT_EQ(child->vma_name(a + P), "heap");
  const auto moved = world->mremap(a + 3 * P, P, 2 * P, RemapFlags::maymove | RemapFlags::fixed, a - 64 * P);
  ASSERT_TRUE(moved);
  EXPECT_EQ(world->vma_name(*moved), "heap");
}

TEST(VmaNames, RefuseWhatNoNameMayHold) {
  World world("6.12+vma-naming=anonymous");
  const Addr a = world.alone(1);
  for (const char* name : {"a[b", "a]", "`", "$HOME", "back\\slash", "\n", "\x7f"}) {
    EXPECT_EQ(world->set_vma_name(a, P, name).error(), Errno{EINVAL}) << name;
  }
  EXPECT_TRUE(world->set_vma_name(a, P, std::string(79, 'x')));
  EXPECT_EQ(world->set_vma_name(a, P, std::string(80, 'x')).error(), Errno{EINVAL});
  EXPECT_EQ(world->set_vma_name(a + 1, P, "x").error(), Errno{EINVAL});
  EXPECT_TRUE(world->set_vma_name(a, 0, "x"));
}

TEST(VmaNames, PassOverHolesAndSayEnomem) {
  World world("6.12+vma-naming=anonymous");
  const Addr a = world.alone(3);
  ASSERT_TRUE(world->munmap(a + P, P));
  EXPECT_EQ(world->set_vma_name(a, 3 * P, "x").error(), Errno{ENOMEM});
  EXPECT_EQ(world->vma_name(a + 2 * P), "x");
  EXPECT_EQ(world->vma_name(a + P), std::nullopt);
}

TEST(VmaNames, SharedMemoryHasOneSince62) {
  for (const char* kernel : {"6.1+vma-naming=private", "6.12+vma-naming=anonymous"}) {
    World world(kernel);
    const auto a = world->mmap({}, P, kRW, MapFlags::shared | MapFlags::anonymous);
    ASSERT_TRUE(a);
    const auto named = world->set_vma_name(*a, P, "x");
    EXPECT_EQ(named.has_value(), std::string_view(kernel).starts_with("6.12"));
    if (!named) {
      EXPECT_EQ(named.error(), Errno{EBADF});
    }
  }
}

TEST(VmaNames, AreUnknownToEveryPreset) {
  for (const Profile& profile : presets()) {
    World world(profile.name);
    EXPECT_EQ(world->set_vma_name(world.alone(1), P, "x").error(), Errno{EINVAL}) << profile.name;
  }
}

}  // namespace
}  // namespace faultline::mm
