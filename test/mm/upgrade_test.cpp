// The decision matrix of the mprotect upgrade: docs/kernel-semantics.md A.9, the rows that need no pin, KSM, swap or
// huge page.
#include "world.h"

namespace faultline::mm {
namespace {

/// A page brought into one of the matrix's states; `keep` holds a child that must stay alive.
using Prepare = void (*)(World& world, Addr page, std::unique_ptr<AddressSpace>& keep);

struct MatrixRow {
  const char* state;
  Prepare prepare;
  bool upgraded[4];  // P0, v5, P2, P3
};

const MatrixRow kMatrix[] = {
    {"dirty and exclusive",
     [](World& world, Addr page, auto&) { world.store_pages(page, 1); },
     {false, true, true, true}},
    {"clean and exclusive, after MADV_FREE",
     [](World& world, Addr page, auto&) {
       world.store_pages(page, 1);
       EXPECT_TRUE(world->madvise(page, P, Advice::free));
     },
     {false, false, false, true}},
    {"the zero page", [](World& world, Addr page, auto&) { world.load_pages(page, 1); }, {false, false, false, false}},
    {"shared with a live child",
     [](World& world, Addr page, auto& keep) {
       world.store_pages(page, 1);
       keep = world->fork();
     },
     {false, false, false, false}},
    {"child exited, not yet written",
     [](World& world, Addr page, auto&) {
       world.store_pages(page, 1);
       world->fork();
     },
     {false, true, false, false}},
    {"child exited, one write since",
     [](World& world, Addr page, auto&) {
       world.store_pages(page, 1);
       world->fork();
       world.store_pages(page, 1);
     },
     {false, true, true, true}},
};

TEST(Upgrade, DecidesEveryStateOfTheMatrixAsEachKernelDoes) {
  const char* profiles[] = {"5.10", "5.10+upgrade=page-count", "6.1", "6.12"};
  for (const auto& row : kMatrix) {
    for (int i = 0; i < 4; ++i) {
      SCOPED_TRACE(std::string(row.state) + " on " + profiles[i]);
      World world(profiles[i]);
      std::unique_ptr<AddressSpace> keep;
      const Addr page = world.alone(1);
      row.prepare(world, page, keep);
      EXPECT_TRUE(world->mprotect(page, P, kNone));
      const std::uint64_t upgraded =
          world.during(Counter::ptes_upgraded, [&] { EXPECT_TRUE(world->mprotect(page, P, kRW)); });
      EXPECT_EQ(upgraded, row.upgraded[i] ? 1u : 0u);
      const std::uint64_t faults = world.during(Counter::exceptions, [&] { world.store_pages(page, 1); });
      EXPECT_EQ(faults, row.upgraded[i] ? 0u : 1u);
    }
  }
}

/// P6.18 of A.9: 32 pages, minor faults after NONE, RW and one store per page.
TEST(Upgrade, ChargesTheFaultsThatWereProbedOnLinux618) {
  const auto cycle_faults = [](World& world, Addr a) {
    EXPECT_TRUE(world->mprotect(a, 32 * P, kNone));
    EXPECT_TRUE(world->mprotect(a, 32 * P, kRW));
    return world.during(Counter::exceptions, [&] { world.store_pages(a, 32); });
  };
  World world("6.18");
  const Addr zero = world.alone(32);
  world.load_pages(zero, 32);
  EXPECT_EQ(cycle_faults(world, zero), 32u);

  const Addr shared = world.alone(32);
  world.store_pages(shared, 32);
  const auto child = world->fork();
  EXPECT_EQ(cycle_faults(world, shared), 32u);  // the probe saw one more, of its own stack
  EXPECT_EQ(cycle_faults(world, shared), 0u);

  const Addr freed = world.alone(32);
  world.store_pages(freed, 32);
  EXPECT_TRUE(world->madvise(freed, 32 * P, Advice::free));
  EXPECT_EQ(cycle_faults(world, freed), 0u);
}

TEST(Upgrade, CostsTheQuarantineCycle32FaultsBeforeThePatchAndNoneAfter) {
  for (const auto& [profile, faults] : {std::pair{"5.10", 32u},
                                        {"5.10+upgrade=page-count", 0u},
                                        {"6.1", 0u},
                                        {"6.12", 0u},
                                        {"6.18", 0u},
                                        {"arm64/5.10", 32u},
                                        {"arm64/6.12", 0u}}) {
    SCOPED_TRACE(profile);
    World world(profile);
    const Addr a = world.alone(32);
    world.store_pages(a, 32);
    for (int cycle = 0; cycle < 3; ++cycle) {
      EXPECT_TRUE(world->mprotect(a, 32 * P, kNone));
      EXPECT_TRUE(world->mprotect(a, 32 * P, kRW));
      EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 32); }), faults);
    }
    EXPECT_EQ(world.vmas(a, 32), 1u);
  }
}

TEST(ZeroPage, WhereItIsForbiddenAReadMapsAPageThatAWriteFindsWritable) {
  World world("6.18+zero-page=forbidden");
  const Addr a = world.alone(32);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.load_pages(a, 32); }), 32u);
  EXPECT_EQ(world.during(Counter::exceptions, [&] { world.store_pages(a, 32); }), 0u);
}

TEST(Upgrade, FlushesNothingOnX86WhenAccessOnlyGrowsFromNone) {
  World before("5.10");
  World after("6.12");
  for (World* world : {&before, &after}) {
    const Addr a = world->alone(32);
    world->store_pages(a, 32);
    EXPECT_EQ(world->during(Counter::flushes_ranged, [&] { EXPECT_TRUE((*world)->mprotect(a, 32 * P, kNone)); }), 1u);
  }
  const Addr a = Addr{0x10000000} + 2 * P;
  EXPECT_EQ(before.during(Counter::flushes_ranged, [&] { EXPECT_TRUE(before->mprotect(a, 32 * P, kRW)); }), 1u);
  EXPECT_EQ(after.during(Counter::flushes_ranged, [&] { EXPECT_TRUE(after->mprotect(a, 32 * P, kRW)); }), 0u);
}

}  // namespace
}  // namespace faultline::mm
