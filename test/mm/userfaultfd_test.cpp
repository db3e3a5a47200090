// Userfaultfds: docs/kernel-semantics.md D.9. What the kernels do was probed on Debian's 5.10.223, 6.1.176, 6.12.117
// and 7.3.4 and on 6.18.44.
#include "world.h"

namespace faultline::mm {
namespace {

constexpr std::uint64_t kApi = 0xaa;

/// Eight pages that a userfaultfd watches.
class Watched : public World {
 public:
  Watched(std::string_view profile, UffdFeatures features, UffdModes modes, MapFlags kind = MapFlags::private_)
      : World(profile) {
    const bool everybody = (*this)->profile().uffd_access == UffdAccess::everybody;
    uffd = *(*this)->userfaultfd(everybody ? UffdFlags::none : UffdFlags::user_mode_only);
    EXPECT_TRUE(uffd->enable(kApi, features));
    a = *(*this)->mmap({}, 8 * P, kRW, kind | MapFlags::anonymous);
    if (kind == MapFlags::private_) store_pages(a, 2);
    EXPECT_TRUE(uffd->watch(a, 8 * P, modes));
  }
  void protect(std::uint64_t first, std::uint64_t pages, UffdProtect mode = UffdProtect::wp) {
    EXPECT_TRUE(uffd->write_protect(a + first * P, pages * P, mode));
    check();
  }
  /// For each page: P for present, W for protected; "-" for neither.
  std::string pages(std::uint64_t count) {
    std::string text;
    for (std::uint64_t i = 0; i < count; ++i) {
      const PageState page = (*this)->page(a + i * P);
      text += page.present ? (page.uffd_wp ? "PW " : "P- ") : (page.uffd_wp ? "-W " : "-- ");
    }
    return text;
  }
  /// "ok", or the signal that a store ends in.
  std::string store(std::uint64_t page) {
    const auto stored = (*this)->store(a + page * P, 1);
    check();
    return stored ? "ok" : std::string(signal_name(stored.error().number));
  }

  std::shared_ptr<Userfaultfd> uffd;
  Addr a;
};

TEST(Userfaultfd, IsHadWithoutPrivilegesByEverybodyOrForUserModeOnly) {
  World old("5.10");
  EXPECT_EQ(outcome(old->userfaultfd(UffdFlags::cloexec)), "ok");
  EXPECT_EQ(outcome(old->userfaultfd(UffdFlags::user_mode_only)), "EINVAL");
  World now("6.1");
  EXPECT_EQ(outcome(now->userfaultfd(UffdFlags::cloexec)), "EPERM");
  EXPECT_EQ(outcome(now->userfaultfd(UffdFlags::user_mode_only)), "ok");
  EXPECT_EQ(outcome(now->userfaultfd(UffdFlags::user_mode_only | UffdFlags{2})), "EINVAL");
}

TEST(Userfaultfd, OffersTheFeaturesOfItsEra) {
  const auto enables = [](const char* kernel, UffdFeatures features) {
    World world(kernel);
    const bool everybody = world->profile().uffd_access == UffdAccess::everybody;
    const auto uffd = world->userfaultfd(everybody ? UffdFlags::none : UffdFlags::user_mode_only);
    return outcome((*uffd)->enable(kApi, features));
  };
  for (const char* kernel : {"5.10", "6.1", "6.12"}) EXPECT_EQ(enables(kernel, UffdFeatures::sigbus), "ok") << kernel;
  EXPECT_EQ(enables("5.10", UffdFeatures::minor_shmem), "EINVAL");
  EXPECT_EQ(enables("6.1", UffdFeatures::wp_hugetlbfs_shmem), "ok");
  EXPECT_EQ(enables("6.1", UffdFeatures::wp_unpopulated), "EINVAL");
  EXPECT_EQ(enables("6.1", UffdFeatures::wp_async), "EINVAL");
  EXPECT_EQ(enables("6.8", UffdFeatures::wp_async), "ok");
  EXPECT_EQ(enables("arm64/6.8", UffdFeatures::wp_async), "EINVAL");
  EXPECT_EQ(enables("arm64/6.12", UffdFeatures::wp_async), "ok");
  EXPECT_EQ(enables("6.12", UffdFeatures::event_fork), "EPERM");
}

TEST(Userfaultfd, EndsAMissingFaultInSigbusWhereNobodyIsToBeWaitedFor) {
  Watched world("6.12", UffdFeatures::sigbus, UffdModes::missing);
  const std::uint64_t minor = world.counted(Counter::minor_faults);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { EXPECT_EQ(world.store(5), "SIGBUS"); }), 1u);
  EXPECT_EQ(world.counted(Counter::minor_faults), minor);
  EXPECT_EQ(world.store(0), "ok");
}

TEST(Userfaultfd, HasItsHandlerAnswerInTheSameException) {
  Watched world("6.12", UffdFeatures::none, UffdModes::missing | UffdModes::wp);
  world.protect(0, 2);
  for (const std::uint64_t page : {0U, 5U}) {
    SCOPED_TRACE(page);
    const std::uint64_t minor = world.counted(Counter::minor_faults);
    const std::uint64_t answered = world.counted(Counter::fault_uffd);
    EXPECT_EQ(world.during(Counter::exceptions, [&] { EXPECT_EQ(world.store(page), "ok"); }), 1u);
    EXPECT_EQ(world.counted(Counter::minor_faults), minor);  // it counts as a major fault
    EXPECT_EQ(world.counted(Counter::fault_uffd), answered + 1);
  }
  EXPECT_EQ(world.pages(6), "P- PW -- -- -- P- ");
}

TEST(Userfaultfd, ProtectsWhatIsThereAndAddressesOnlyWhenAsked) {
  Watched plain("6.12", UffdFeatures::sigbus, UffdModes::wp);
  plain.protect(0, 4);
  EXPECT_EQ(plain.pages(4), "PW PW -- -- ");
  EXPECT_EQ(plain.store(0), "SIGBUS");
  EXPECT_EQ(plain.store(2), "ok");
  Watched all("6.12", UffdFeatures::sigbus | UffdFeatures::wp_unpopulated, UffdModes::wp);
  all.protect(0, 4);
  EXPECT_EQ(all.pages(4), "PW PW -W -W ");
  // The page is mapped protected first, and the next exception is the userfaultfd's.
  EXPECT_EQ(all.during(Counter::exceptions, [&] { EXPECT_EQ(all.store(2), "SIGBUS"); }), 2u);
  EXPECT_EQ(all.pages(4), "PW PW PW -W ");
}

TEST(Userfaultfd, LetsTheKernelPopulateNothingThatIsProtected) {
  Watched sync("6.18", UffdFeatures::sigbus | UffdFeatures::wp_unpopulated, UffdModes::wp);
  sync.protect(0, 8);
  EXPECT_EQ(outcome(sync->mlock(sync.a + 3 * P, P)), "ENOMEM");
  EXPECT_EQ(sync.pages(4), "PW PW -W PW ");
  Watched async("6.18", UffdFeatures::sigbus | UffdFeatures::wp_async, UffdModes::wp);
  async.protect(0, 8);
  EXPECT_EQ(outcome(async->mlock(async.a + 3 * P, P)), "ok");
  EXPECT_EQ(async.pages(4), "PW PW -W P- ");
}

TEST(Userfaultfd, InAsyncModeTakesTheProtectionAwayByItself) {
  Watched world("6.12", UffdFeatures::wp_async, UffdModes::wp);
  world.protect(0, 8);
  EXPECT_EQ(world.during(Counter::minor_faults, [&] { EXPECT_EQ(world.store(0), "ok"); }), 1u);
  EXPECT_EQ(world.during(Counter::minor_faults, [&] { EXPECT_EQ(world.store(4), "ok"); }), 2u);
  EXPECT_EQ(world.pages(6), "P- PW -W -W P- -W ");
}

TEST(Userfaultfd, IsNotOverruledByMprotect) {
  for (const char* kernel : {"5.10", "6.1", "6.12"}) {
    SCOPED_TRACE(kernel);
    Watched world(kernel, UffdFeatures::sigbus, UffdModes::wp);
    world.protect(0, 2);
    EXPECT_TRUE(world->mprotect(world.a, 8 * P, kNone));
    EXPECT_TRUE(world->mprotect(world.a, 8 * P, kRW));
    EXPECT_EQ(world.store(1), "SIGBUS");
  }
}

TEST(Userfaultfd, MakesPagesWritableAgainBySinceThe62Rule) {
  for (const auto& [kernel, faults] : {std::pair{"6.1", 1U}, std::pair{"6.12", 0U}}) {
    SCOPED_TRACE(kernel);
    Watched world(kernel, UffdFeatures::sigbus, UffdModes::wp);
    world.protect(0, 2);
    world.protect(0, 2, UffdProtect::none);
    EXPECT_EQ(world.during(Counter::exceptions, [&] { EXPECT_EQ(world.store(1), "ok"); }), faults);
  }
}

TEST(Userfaultfd, KeepsSharedPagesProtectedWhenTheyAreDiscarded) {
  for (const auto& [kernel, faults_after] : {std::pair{"6.1", 0U}, std::pair{"6.12", 1U}}) {
    SCOPED_TRACE(kernel);
    Watched world(kernel, UffdFeatures::sigbus, UffdModes::wp, MapFlags::shared);
    world.store_pages(world.a, 2);
    world.protect(0, 4);
    EXPECT_EQ(world.pages(4), "PW PW -W -W ");
    EXPECT_TRUE(world->madvise(world.a, P, Advice::dontneed));
    EXPECT_EQ(world.pages(2), "-W PW ");
    EXPECT_EQ(world.store(0), "SIGBUS");
    world.protect(0, 4, UffdProtect::none);
    EXPECT_EQ(world.pages(4), "P- P- -- -- ");
    EXPECT_EQ(world.during(Counter::exceptions, [&] { EXPECT_EQ(world.store(1), "ok"); }), faults_after);
  }
}

TEST(Userfaultfd, LeavesWhatIsMovedUnwatched) {
  for (const auto& [kernel, bit] : {std::pair{"6.1", true}, std::pair{"6.12", false}}) {
    SCOPED_TRACE(kernel);
    Watched world(kernel, UffdFeatures::sigbus, UffdModes::wp);
    world.protect(0, 2);
    const auto moved = world->mremap(world.a, 2 * P, 2 * P, RemapFlags::maymove | RemapFlags::fixed, Addr{0x70000000});
    ASSERT_TRUE(moved);
    EXPECT_EQ(world->page(*moved).uffd_wp, bit);
    EXPECT_EQ(world.during(Counter::exceptions, [&] { EXPECT_TRUE(world->store(*moved, 1)); }), 1u);
  }
}

TEST(Userfaultfd, WatchesNoChild) {
  Watched world("6.12", UffdFeatures::sigbus, UffdModes::missing | UffdModes::wp);
  world.protect(0, 2);
  const auto child = world->fork();
  EXPECT_TRUE(child->store(world.a, 1));
  EXPECT_TRUE(child->store(world.a + 5 * P, 1));
  EXPECT_EQ(world.pages(2), "PW PW ");
  EXPECT_EQ(world.store(0), "SIGBUS");
  EXPECT_FALSE(child->check());
}

TEST(Userfaultfd, EndsWithItsLastDescriptor) {
  for (const auto& [kernel, left] : {std::pair{"6.1", "PW PW "}, std::pair{"6.12", "P- P- "}}) {
    SCOPED_TRACE(kernel);
    Watched world(kernel, UffdFeatures::sigbus, UffdModes::wp);
    world.protect(0, 2);
    world.uffd.reset();
    EXPECT_EQ(world.pages(2), left);
    EXPECT_EQ(world.store(0), "ok");
  }
}

TEST(Userfaultfd, OutlivesItsAddressSpace) {
  auto system = System(*parse_profile("6.12"));
  auto space = std::make_unique<AddressSpace>(system);
  const auto uffd = *space->userfaultfd(UffdFlags::user_mode_only);
  EXPECT_TRUE(uffd->enable(kApi, UffdFeatures::none));
  space.reset();
  EXPECT_EQ(outcome(uffd->watch(Addr{0x10000}, P, UffdModes::missing)), "ENOMEM");
  EXPECT_EQ(outcome(uffd->write_protect(Addr{0x10000}, P, UffdProtect::wp)), "ESRCH");
}

TEST(Userfaultfd, RefusesInTheKernelsOrder) {
  Watched world("6.12", UffdFeatures::sigbus, UffdModes::missing);
  Userfaultfd& uffd = *world.uffd;
  const Addr a = world.a;
  EXPECT_EQ(outcome(uffd.enable(kApi, UffdFeatures::none)), "EINVAL");
  EXPECT_EQ(outcome(uffd.watch(a, 8 * P, UffdModes::none)), "EINVAL");
  EXPECT_EQ(outcome(uffd.watch(a + 1, P, UffdModes::missing)), "EINVAL");
  EXPECT_EQ(outcome(uffd.watch(a + 64 * P, P, UffdModes::missing)), "EINVAL");
  EXPECT_EQ(outcome(uffd.write_protect(a, P, UffdProtect::wp)), "ENOENT");
  EXPECT_EQ(outcome(uffd.write_protect(a, P, UffdProtect::wp | UffdProtect::dontwake)), "EINVAL");
  EXPECT_EQ(outcome(uffd.zero_page(a, P, UffdFill::none)), "EEXIST");
  EXPECT_EQ(outcome(uffd.zero_page(a + 2 * P, P, UffdFill::wp)), "EINVAL");
  EXPECT_EQ(outcome(uffd.copy(*world, a + 2 * P, a, P, UffdFill::wp)), "EINVAL");
  EXPECT_EQ(outcome(uffd.copy(*world, a + 2 * P, a, 8 * P, UffdFill::none)), "ENOENT");
  EXPECT_EQ(outcome(uffd.copy(*world, a + 2 * P, a + 64 * P, P, UffdFill::none)), "EFAULT");
  EXPECT_EQ(outcome(uffd.copy(*world, a + 4 * P, a + P, 2 * P, UffdFill::none)), "EAGAIN");
  EXPECT_EQ(world.pages(6), "P- P- -- -- P- -- ");
  const auto other = *world->userfaultfd(UffdFlags::user_mode_only);
  EXPECT_EQ(outcome(other->watch(a, P, UffdModes::missing)), "EINVAL");
  EXPECT_TRUE(other->enable(kApi, UffdFeatures::sigbus));
  EXPECT_EQ(outcome(other->watch(a, P, UffdModes::missing)), "EBUSY");
  EXPECT_TRUE(uffd.unwatch(a, 8 * P));
  EXPECT_TRUE(other->watch(a, P, UffdModes::missing));
  // Watched by another one, a mapping merges no more.
  EXPECT_EQ(world.vmas(a, 8), 2u);
}

}  // namespace
}  // namespace faultline::mm
