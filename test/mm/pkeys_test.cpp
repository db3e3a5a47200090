// Protection keys (D.14).
#include "world.h"

namespace faultline::mm {
namespace {

constexpr PkeyRights kAll = PkeyRights::all;
constexpr PkeyRights kNoWrites = PkeyRights::disable_write;
constexpr PkeyRights kNoAccess = PkeyRights::disable_access;

/// What a load and a store of `a` end in: "ok ok", or the si_codes.
std::string accesses(AddressSpace& space, Addr a) {
  const auto name = [](const auto& result) {
    return result ? std::string("ok") : std::string(signal_code_name(result.error().number, result.error().code));
  };
  const std::string loaded = name(space.load(a));
  return loaded + " " + name(space.store(a, 1));
}

Pkey key_at(const AddressSpace& space, Addr a) {
  Pkey key = 0;
  space.for_each_vma(Range::of(a, P), [&](const Vma& vma) { key = pkey_of(vma.flags); });
  return key;
}

TEST(Pkeys, DenyByTheRightsOfTheThreadWithoutTouchingAnyEntry) {
  World world("6.12");
  const Addr a = world.alone(2);
  world.store_pages(a, 2);
  ASSERT_EQ(world->pkey_alloc(0, kAll), 1U);
  ASSERT_TRUE(world->pkey_mprotect(a, P, kRW, 1));
  EXPECT_EQ(accesses(*world, a), "ok ok");
  const Counters before = world->counters();
  ASSERT_TRUE(world->pkey_set(1, kNoWrites));
  EXPECT_EQ(world->counters(), before);
  EXPECT_EQ(accesses(*world, a), "ok SEGV_PKUERR");
  ASSERT_TRUE(world->pkey_set(1, kNoAccess));
  EXPECT_EQ(accesses(*world, a), "SEGV_PKUERR SEGV_PKUERR");
  EXPECT_EQ(accesses(*world, a + P), "ok ok");
  EXPECT_EQ(world->store(a, 1).error().pkey, 1U);
  ASSERT_TRUE(world->pkey_set(1, kAll));
  EXPECT_EQ(accesses(*world, a), "ok ok");
  EXPECT_EQ(world.counted(Counter::fault_signal), 4U);
}

TEST(Pkeys, ComeBeforeWhatTheMappingPermitsAndBeforeAnyPage) {
  World world("6.12");
  const Addr a = world.alone(1, kNone);
  ASSERT_EQ(world->pkey_alloc(0, kNoAccess), 1U);
  ASSERT_TRUE(world->pkey_mprotect(a, P, kNone, 1));
  EXPECT_EQ(accesses(*world, a), "SEGV_PKUERR SEGV_PKUERR");
  ASSERT_TRUE(world->pkey_mprotect(a, P, kRW, 1));
  EXPECT_EQ(accesses(*world, a), "SEGV_PKUERR SEGV_PKUERR");
  EXPECT_EQ(world.present(a, 1), 0U);
  EXPECT_EQ(world.counted(Counter::minor_faults), 0U);
  // A fetch needs no right, and then the page is found not executable.
  EXPECT_EQ(world->fetch(a).error().code, kSegvAccErr);
}

TEST(Pkeys, StopTheKernelThatWorksForTheThread) {
  World world("6.12");
  const Addr a = world.alone(2);
  ASSERT_EQ(world->pkey_alloc(0, kNoWrites), 1U);
  ASSERT_TRUE(world->pkey_mprotect(a + P, P, kRW, 1));
  std::array<std::uint8_t, 8> bytes{};
  EXPECT_EQ(world->copy_to_user(a + P - 4, bytes), 4U);
  EXPECT_EQ(world->copy_from_user(bytes, a + P - 4), 8U);
  EXPECT_EQ(outcome(world->mlock(a + P, P)), "ENOMEM");
  EXPECT_EQ(outcome(world->madvise(a + P, P, Advice::populate_write)), "EINVAL");
  EXPECT_EQ(outcome(world->madvise(a + P, P, Advice::populate_read)), "ok");
  EXPECT_EQ(outcome(world->pin(a + P, P)), "EFAULT");
  ASSERT_TRUE(world->pkey_set(1, kNoAccess));
  EXPECT_EQ(world->copy_from_user(bytes, a + P - 4), 4U);
  EXPECT_EQ(outcome(world->madvise(a + P, P, Advice::populate_read)), "EINVAL");
}

TEST(Pkeys, AreAllocatedFromTheLowestAndMayAllBeFreed) {
  World world("6.12");
  for (std::uint64_t key = 1; key < 16; ++key) EXPECT_EQ(world->pkey_alloc(0, kAll), key);
  EXPECT_EQ(outcome(world->pkey_alloc(0, kAll)), "ENOSPC");
  EXPECT_EQ(outcome(world->pkey_free(7)), "ok");
  EXPECT_EQ(outcome(world->pkey_free(0)), "ok");
  EXPECT_EQ(outcome(world->pkey_free(7)), "EINVAL");
  EXPECT_EQ(world->pkey_alloc(0, kAll), 0U);
  EXPECT_EQ(world->pkey_alloc(0, kAll), 7U);
  for (const int key : {-2, -1, 16}) EXPECT_EQ(outcome(world->pkey_free(key)), "EINVAL") << key;
  EXPECT_EQ(outcome(world->pkey_alloc(1, kAll)), "EINVAL");
  EXPECT_EQ(outcome(world->pkey_alloc(0, PkeyRights{4})), "EINVAL");
}

TEST(Pkeys, ThatAreNotAllocatedAreRefusedBeforeAnyMappingIsLookedAt) {
  World world("6.12");
  const Addr hole = world.alone(1) + P;
  EXPECT_EQ(outcome(world->pkey_mprotect(hole, P, kR, 1)), "EINVAL");
  EXPECT_EQ(outcome(world->pkey_mprotect(hole, P, kR, 0)), "ENOMEM");
  EXPECT_EQ(outcome(world->pkey_mprotect(hole, P, kR, kNoPkey)), "ENOMEM");
  EXPECT_EQ(outcome(world->pkey_mprotect(hole, 0, kR, 1)), "ok");
  EXPECT_EQ(outcome(world->pkey_mprotect(hole, ~std::uint64_t{0}, kR, 1)), "ENOMEM");
}

// aaaa -> aKaa, and back
TEST(Pkeys, KeepNeighboursApartAndStayThroughMprotect) {
  World world("6.12");
  const Addr a = world.alone(4);
  ASSERT_EQ(world->pkey_alloc(0, kAll), 1U);
  ASSERT_TRUE(world->pkey_mprotect(a + P, P, kRW, 1));
  EXPECT_EQ(world.vmas(a, 4), 3U);
  ASSERT_TRUE(world->mprotect(a, 4 * P, kR));
  EXPECT_EQ(world.vmas(a, 4), 3U);
  EXPECT_EQ(key_at(*world, a + P), 1U);
  ASSERT_TRUE(world->pkey_mprotect(a, 4 * P, kR, 0));
  EXPECT_EQ(world.vmas(a, 4), 1U);
}

TEST(Pkeys, OfExecutableMemoryAloneIsTakenByTheKernelWhenFirstWanted) {
  World world("6.12");
  const Addr a = world.alone(2);
  ASSERT_EQ(world->pkey_alloc(0, kAll), 1U);
  ASSERT_TRUE(world->mprotect(a, P, Prot::exec));
  EXPECT_EQ(key_at(*world, a), 2U);
  EXPECT_EQ(accesses(*world, a), "SEGV_PKUERR SEGV_PKUERR");
  EXPECT_EQ(outcome(world->pkey_free(2)), "EINVAL");
  EXPECT_EQ(outcome(world->pkey_mprotect(a, P, Prot::exec, 2)), "EINVAL");
  EXPECT_EQ(world->pkey_alloc(0, kAll), 3U);
  // The thread may give itself the right, until the next such mapping.
  ASSERT_TRUE(world->pkey_set(2, kAll));
  EXPECT_EQ(accesses(*world, a), "ok SEGV_ACCERR");
  ASSERT_TRUE(world->mprotect(a + P, P, Prot::exec));
  EXPECT_EQ(accesses(*world, a), "SEGV_PKUERR SEGV_PKUERR");
  ASSERT_TRUE(world->mprotect(a, 2 * P, kNone));
  EXPECT_EQ(key_at(*world, a), 0U);
  // PROT_SEM makes it another protection.
  ASSERT_TRUE(world->mprotect(a, P, Prot::exec | Prot::sem));
  EXPECT_EQ(key_at(*world, a), 0U);
}

TEST(Pkeys, OfExecutableMemoryAloneIsTakenAlsoByAnMmapThatFails) {
  // faultline check found that 6.12 takes it before it looks for a place.
  for (const auto& [profile, next] : {std::pair{"5.10", 1U}, {"6.1", 1U}, {"6.12", 2U}, {"7.3", 2U}}) {
    World world(profile);
    const Addr a = world.alone(1);
    ASSERT_TRUE(world->set_limit(Resource::address_space, {0, 0}));
    const MapFlags kAnon = MapFlags::private_ | MapFlags::anonymous;
    EXPECT_EQ(outcome(world->mmap(a, P, Prot::exec, kAnon | MapFlags::fixed_noreplace)), "EEXIST");
    EXPECT_EQ(world->pkey_alloc(0, kAll), next) << profile;
    EXPECT_EQ(outcome(world->mmap({}, P, Prot::exec, kAnon)), "ENOMEM");
    EXPECT_EQ(world->pkey_alloc(0, kAll), 3U) << profile;
  }
}

TEST(Pkeys, LeaveExecutableMemoryReadableWhereNoneIsLeft) {
  World world("6.12");
  const Addr a = world.alone(1);
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(world->pkey_alloc(0, kAll));
  ASSERT_TRUE(world->pkey_mprotect(a, P, kRW, 5));
  ASSERT_TRUE(world->mprotect(a, P, Prot::exec));
  EXPECT_EQ(key_at(*world, a), 5U);
  EXPECT_EQ(accesses(*world, a), "ok SEGV_ACCERR");
}

TEST(Pkeys, AndRightsAreTheChildsOwnFromForkOn) {
  World world("6.12");
  const Addr a = world.alone(1);
  ASSERT_EQ(world->pkey_alloc(0, kNoWrites), 1U);
  ASSERT_TRUE(world->pkey_mprotect(a, P, kRW, 1));
  const auto child = world->fork();
  EXPECT_EQ(accesses(*child, a), "ok SEGV_PKUERR");
  ASSERT_TRUE(child->pkey_set(1, kAll));
  EXPECT_EQ(accesses(*child, a), "ok ok");
  EXPECT_EQ(accesses(*world, a), "ok SEGV_PKUERR");
  EXPECT_EQ(child->pkey_alloc(0, kAll), 2U);
  EXPECT_EQ(world->pkey_alloc(0, kAll), 2U);
  EXPECT_EQ(child->check(), std::nullopt);
}

TEST(Pkeys, ThatDenyWritesMakeSealedMemoryReadOnly) {
  for (const char* profile : {"6.12", "7.3"}) {
    World world(profile);
    const Addr a = world.alone(1);
    world.store_pages(a, 1);
    ASSERT_EQ(world->pkey_alloc(0, kAll), 1U);
    ASSERT_TRUE(world->pkey_mprotect(a, P, kRW, 1));
    ASSERT_TRUE(world->mseal(a, P, 0));
    ASSERT_TRUE(world->pkey_set(1, kNoWrites));
    EXPECT_EQ(outcome(world->madvise(a, P, Advice::dontneed)), "EPERM") << profile;
    ASSERT_TRUE(world->pkey_set(1, kAll));
    EXPECT_EQ(outcome(world->madvise(a, P, Advice::dontneed)), "ok") << profile;
  }
}

TEST(Pkeys, OfAnEntryAreChangedWithAFlushLikeAnyProtection) {
  World world("6.12");
  const Addr a = world.alone(3);
  world.store_pages(a, 2);
  ASSERT_EQ(world->pkey_alloc(0, kAll), 1U);
  EXPECT_EQ(world.during(Counter::flushes_ranged, [&] { ASSERT_TRUE(world->pkey_mprotect(a, 3 * P, kRW, 1)); }), 1U);
  EXPECT_EQ(world.during(Counter::ptes_changed, [&] { ASSERT_TRUE(world->pkey_mprotect(a, 3 * P, kRW, 0)); }), 2U);
}

TEST(Pkeys, AreRefusedAsTheKernelOfAProcessorWithoutThemDoes) {
  struct Refusal {
    const char* profile;
    const char* alloc;
    const char* of_key_0;
    const char* free_key_0;
    const char* of_none;
  };
  for (const auto& [profile, alloc, of_key_0, free_key_0, of_none] :
       {Refusal{"5.10+pkeys=absent", "EINVAL", "EINVAL", "EINVAL", "ok"},
        Refusal{"7.3+pkeys=absent", "EINVAL", "EINVAL", "EINVAL", "ok"},
        Refusal{"arm64/6.8", "ENOSYS", "ENOSYS", "ENOSYS", "ENOSYS"},
        Refusal{"arm64/6.12", "ENOSPC", "ok", "ok", "ok"}}) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr a = world.alone(1);
    EXPECT_EQ(outcome(world->pkey_alloc(0, kAll)), alloc);
    EXPECT_EQ(outcome(world->pkey_mprotect(a, P, kR, 0)), of_key_0);
    EXPECT_EQ(outcome(world->pkey_mprotect(a, P, kRW, kNoPkey)), of_none);
    EXPECT_EQ(outcome(world->pkey_free(0)), free_key_0);
    EXPECT_EQ(outcome(world->pkey_set(1, kAll)), "ENOSYS");
    EXPECT_EQ(outcome(world->pkey_get(1)), "ENOSYS");
    ASSERT_TRUE(world->mprotect(a, P, Prot::exec));
    EXPECT_EQ(accesses(*world, a), "ok SEGV_ACCERR");
  }
}

TEST(Pkeys, AreAFeatureOfX86) {
  EXPECT_FALSE(parse_profile("arm64/6.12+pkeys=present"));
  EXPECT_TRUE(parse_profile("arm64/6.12+pkeys=absent"));
}

}  // namespace
}  // namespace faultline::mm
