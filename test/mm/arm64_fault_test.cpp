// arm64's atomic write fault: docs/kernel-semantics.md B.1, B.2, B.5.
#include "world.h"

namespace faultline::mm {
namespace {

/// Exceptions of one atomic on an untouched page, its instruction in ordinary text.
std::uint64_t first_touch_by_atomic(World& world) {
  const Addr a = world.alone(1);
  return world.during(Counter::exceptions, [&] { EXPECT_TRUE(world->atomic_add(a, 1)); });
}

/// A page of execute-only text, present as any page that runs is.
Addr text_page(World& world, Prot prot) {
  const Addr text = world.alone(1);
  world.store_pages(text, 1);
  EXPECT_TRUE(world->mprotect(text, P, prot));
  EXPECT_TRUE(world->fetch(text));
  return text;
}

TEST(AtomicFault, FaultsTwiceOnArm64AndOnceWhereTheWriteIsForced) {
  World x86("6.12");
  EXPECT_EQ(first_touch_by_atomic(x86), 1u);
  World baseline("arm64/6.8");
  EXPECT_EQ(first_touch_by_atomic(baseline), 2u);
  EXPECT_EQ(baseline.counted(Counter::fault_read), 1u);
  EXPECT_EQ(baseline.counted(Counter::fault_copy), 1u);
  EXPECT_EQ(baseline.counted(Counter::pages_zeroed), 1u);
  EXPECT_EQ(baseline.counted(Counter::flushes_ranged), 1u);
  World patched("arm64/6.8+rmw=write-first");
  EXPECT_EQ(first_touch_by_atomic(patched), 1u);
  EXPECT_EQ(patched.counted(Counter::fault_write), 1u);
  EXPECT_EQ(patched.counted(Counter::flushes_ranged), 0u);
}

TEST(AtomicFault, CostsANestedFaultWhenTheTextIsExecuteOnly) {
  World world("arm64/6.8+rmw=write-first+exec-only=epan");
  const Addr text = text_page(world, Prot::exec);
  const Addr a = world.alone(2);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { EXPECT_TRUE(world->atomic_add(a, 1, text)); }), 3u);
  EXPECT_EQ(world.counted(Counter::fault_nested), 1u);
  // A plain read pays for the probe too.
  EXPECT_EQ(world.during(Counter::exceptions, [&] { EXPECT_TRUE(world->load(a + P, text)); }), 2u);
}

TEST(AtomicFault, ReadsTheTextThatIsNotExecuteOnly) {
  World world("arm64/6.8+rmw=write-first+exec-only=epan");
  const Addr text = text_page(world, kR | Prot::exec);
  const Addr a = world.alone(1);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { EXPECT_TRUE(world->atomic_add(a, 1, text)); }), 1u);
}

TEST(AtomicFault, OnAReadOnlyMappingEndsInTheSameSignalWithAndWithoutThePatch) {
  for (const char* profile : {"arm64/6.8", "arm64/6.8+rmw=write-first"}) {
    World world(profile);
    const Addr a = world.alone(1, kR);
    const auto result = world->atomic_add(a, 1);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, kSegvAccErr);
    // The read fault is resolved first, then the write is refused.
    EXPECT_EQ(world.counted(Counter::exceptions), 2u);
  }
}

TEST(ExecuteOnly, IsReadableUnlessTheProcessorCanDoBetter) {
  World plain("arm64/6.12");
  EXPECT_TRUE(plain->load(text_page(plain, Prot::exec)));
  World epan("arm64/6.12+exec-only=epan");
  const auto refused = epan->load(text_page(epan, Prot::exec));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, kSegvAccErr);
  World pku("6.12");
  const auto keyed = pku->load(text_page(pku, Prot::exec));
  ASSERT_FALSE(keyed);
  EXPECT_EQ(keyed.error().code, kSegvPkuErr);
}

TEST(FaultAccess, RefusesAFetchFromAPageThatIsNotExecutable) {
  // x86-64 maps the page before it finds that it cannot be executed; arm64 looks at the mapping first.
  for (const auto& [profile, present] : {std::pair{"6.12", 1u}, {"arm64/6.12", 0u}}) {
    World world(profile);
    const Addr a = world.alone(1);
    const auto result = world->fetch(a);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, kSegvAccErr);
    EXPECT_EQ(world.present(a, 1), present);
  }
}

TEST(FaultAccess, TellsUnmappedFromForbidden) {
  for (const char* profile : {"5.10", "7.3", "arm64/5.10", "arm64/7.3"}) {
    World world(profile);
    const Addr a = world.alone(1, kNone);
    EXPECT_EQ(world->load(a).error().code, kSegvAccErr);
    EXPECT_EQ(world->store(a, 1).error().code, kSegvAccErr);
    EXPECT_TRUE(world->munmap(a, P));
    EXPECT_EQ(world->load(a).error().code, kSegvMapErr);
    EXPECT_EQ(world.counted(Counter::minor_faults), 0u);
    EXPECT_EQ(world.counted(Counter::fault_signal), 3u);
  }
}

}  // namespace
}  // namespace faultline::mm
