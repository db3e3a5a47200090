// Fitting recovers what an operation was made of, and errors are those of programs that had no part in it.
#include "cost/fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace faultline::cost {
namespace {

Observation observed(Operation operation, std::vector<std::pair<Counter, std::uint64_t>> counted, double instructions,
                     std::uint64_t executions = 1) {
  Observation one{operation, "p.fl", 1, "", {}, executions, instructions};
  for (const auto& [counter, value] : counted) one.counted[counter] = value;
  return one;
}

/// A kernel in which an mprotect costs 300, a VMA 50, an entry 9, and each entry that changes 40 more.
double mprotect_costs(double vmas, double scanned, double changed) {
  return 300 + 50 * vmas + 9 * scanned + 40 * changed;
}

std::vector<Observation> training() {
  std::vector<Observation> all;
  for (const std::uint64_t vmas : {1, 2, 7}) {
    for (const std::uint64_t scanned : {0, 8, 200}) {
      for (const std::uint64_t changed : {scanned, scanned / 2}) {
        const std::uint64_t executions = 1 + vmas;
        all.push_back(observed(Operation::mprotect,
                               {{Counter::vma_visits, vmas * executions},
                                {Counter::ptes_scanned, scanned * executions},
                                {Counter::ptes_changed, changed * executions}},
                               mprotect_costs(double(vmas), double(scanned), double(changed)), executions));
      }
    }
  }
  return all;
}

double each(const CostTable& table, Operation operation, Counter counter) {
  return table.of(operation)->each[std::to_underlying(counter)];
}

TEST(Fit, RecoversTheCostsThatTheObservationsWereMadeOf) {
  const CostTable table = fit(training());
  ASSERT_TRUE(table.of(Operation::mprotect));
  EXPECT_NEAR(table.of(Operation::mprotect)->fixed, 300, 0.01);
  EXPECT_NEAR(each(table, Operation::mprotect, Counter::vma_visits), 50, 0.01);
  EXPECT_NEAR(each(table, Operation::mprotect, Counter::ptes_scanned), 9, 0.01);
  EXPECT_NEAR(each(table, Operation::mprotect, Counter::ptes_changed), 40, 0.01);
}

TEST(Fit, KeepsOperationsApart) {
  std::vector<Observation> all = training();
  all.push_back(observed(Operation::getppid, {}, 228));
  const CostTable table = fit(all);
  EXPECT_NEAR(table.of(Operation::getppid)->fixed, 228, 0.01);
  EXPECT_NEAR(table.of(Operation::mprotect)->fixed, 300, 0.01);
  EXPECT_FALSE(table.of(Operation::munmap));
}

TEST(Fit, KnowsWhatWasNeverCounted) {
  const CostTable table = fit(training());
  EXPECT_TRUE(table.of(Operation::mprotect)->trained.test(std::to_underlying(Counter::ptes_changed)));
  EXPECT_FALSE(table.of(Operation::mprotect)->trained.test(std::to_underlying(Counter::splits)));
  EXPECT_FALSE(predicted(table, observed(Operation::mprotect, {{Counter::splits, 1}}, 1)));
  EXPECT_FALSE(predicted(table, observed(Operation::munmap, {}, 1)));
}

TEST(Fit, WeighsASmallCallAsMuchAsALargeOne) {
  // Nothing fits both, so the errors are alike relative to the calls' sizes, not in instructions.
  const CostTable table = fit(std::vector{observed(Operation::munmap, {{Counter::vma_visits, 1}}, 80),
                                          observed(Operation::munmap, {{Counter::vma_visits, 1}}, 120),
                                          observed(Operation::munmap, {{Counter::vma_visits, 1000}}, 100'000)});
  EXPECT_NEAR(*predicted(table, observed(Operation::munmap, {{Counter::vma_visits, 1000}}, 1)), 100'000, 20'000);
  EXPECT_NEAR(*predicted(table, observed(Operation::munmap, {{Counter::vma_visits, 1}}, 1)), 96, 8);
}

TEST(Judge, StatesTheMedianAndTheWorstErrorOfEachOperation) {
  CostTable table = fit(training());
  const auto off_by = [&](double factor) {
    return observed(Operation::mprotect, {{Counter::vma_visits, 3}}, mprotect_costs(3, 0, 0) / factor);
  };
  judge(table, std::vector{off_by(1.02), off_by(0.96), off_by(1.10)});
  EXPECT_NEAR(table.of(Operation::mprotect)->error.median, 0.04, 1e-4);
  EXPECT_NEAR(table.of(Operation::mprotect)->error.worst, 0.10, 1e-4);
  EXPECT_EQ(table.of(Operation::mprotect)->error.rows, 3U);
}

TEST(Judge, SaysThatNothingWasHeldAgainstAnOperation) {
  CostTable table = fit(training());
  judge(table, {});
  EXPECT_EQ(table.of(Operation::mprotect)->error.rows, 0U);
}

TEST(Occurrences, DoNotCountAVmaThatWasCheckedAheadAsOneThatWasWorkedOn) {
  Counters counted;
  counted[Counter::vma_visits] = 20;
  counted[Counter::vmas_checked] = 10;
  EXPECT_EQ(occurrences(counted, Counter::vma_visits), 10U);
  EXPECT_EQ(occurrences(counted, Counter::vmas_checked), 10U);
}

}  // namespace
}  // namespace faultline::cost
