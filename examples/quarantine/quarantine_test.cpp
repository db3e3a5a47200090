// What the quarantine costs, on kernels of several years and on one that nobody runs: in faults, and in VMAs.
#include "quarantine.h"

#include <gtest/gtest.h>

#include <string>

using namespace faultline;

namespace {

constexpr std::uint64_t kPages = 32;
constexpr std::uint64_t kBlock = kPages * kPageSize;
constexpr std::size_t kSlots = 4;

/// A process with a quarantine, on one kernel.
struct Process {
  explicit Process(const std::string& profile) : system(mm::parse_profile(profile).value()) {}

  void touch(Addr block) {
    for (std::uint64_t page = 0; page < kPages; ++page) ASSERT_TRUE(memory.store(block + page * kPageSize, 1));
  }
  /// A block's life: allocated, written all over, freed.
  Addr cycle() {
    const Addr block = quarantine.allocate().value();
    touch(block);
    EXPECT_TRUE(quarantine.release(block));
    return block;
  }
  /// Cycles until blocks come from the quarantine alone: every slot full, one block to spare.
  void warm_up() {
    for (std::size_t i = 0; i < 2 * (kSlots + 1); ++i) cycle();
  }

  mm::System system;
  mm::AddressSpace memory{system};
  Quarantine quarantine{memory, kBlock, kSlots};
};

struct Kernel {
  const char* profile;
  std::uint64_t faults_per_cycle;
};
void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.profile; }

class QuarantineOn : public testing::TestWithParam<Kernel> {
 protected:
  void TearDown() override { EXPECT_EQ(process.memory.check(), std::nullopt); }
  Process process{GetParam().profile};
};

TEST_P(QuarantineOn, TakesAsManyFaultsPerReusedBlockAsTheKernelLeavesPagesReadOnly) {
  process.warm_up();
  const Counters before = process.memory.counters();
  for (int i = 0; i < 100; ++i) process.cycle();
  const Counters cost = process.memory.counters() - before;
  EXPECT_EQ(cost[Counter::exceptions], 100 * GetParam().faults_per_cycle);
  EXPECT_EQ(cost[Counter::fault_reuse], 100 * GetParam().faults_per_cycle);  // upgraded in place, none copied
  EXPECT_EQ(cost[Counter::pages_copied] + cost[Counter::pages_zeroed], 0U);
}

TEST_P(QuarantineOn, IsOneVmaWhenAllOfItWaitsAndABlockInUseSplitsIt) {
  process.warm_up();
  EXPECT_EQ(process.memory.vma_count(), 1U);
  // Five blocks in a row. One in use leaves quarantine on both sides of it, or on one side only at an end.
  for (const std::uint64_t expected : {2, 3, 3, 3, 2}) {
    const Addr block = process.quarantine.allocate().value();
    EXPECT_EQ(process.memory.vma_count(), expected);
    ASSERT_TRUE(process.quarantine.release(block));
    EXPECT_EQ(process.memory.vma_count(), 1U);
  }
}

TEST_P(QuarantineOn, StopsAUseAfterFree) {
  const Addr freed = process.cycle();
  EXPECT_EQ(process.memory.store(freed + 8, 1).error(), (Signal{kSigSegv, kSegvAccErr, freed + 8}));
  EXPECT_EQ(process.memory.load(freed).error(), (Signal{kSigSegv, kSegvAccErr, freed}));
}

TEST_P(QuarantineOn, KeepsTheMemoryOfWhatWaits) {
  process.warm_up();
  const Range all{Addr{0}, Addr{1ULL << 47}};
  EXPECT_EQ(process.memory.state(all).present, (kSlots + 1) * kPages);
}

INSTANTIATE_TEST_SUITE_P(Kernels, QuarantineOn,
                         testing::Values(Kernel{"5.10", kPages}, Kernel{"5.10+upgrade=page-count", 0},
                                         Kernel{"6.12", 0}));

}  // namespace
