// A model with costs predicts instructions: rows and measure blocks sum what their operations are predicted to take,
// and have no figure where one of them cannot be predicted.
#include <gmock/gmock.h>

#include <algorithm>

#include "harness.h"

namespace faultline::machine::test {
namespace {

/// Of a made-up kernel: an mprotect is 100 and 10 for each entry that changes, give or take a fifth; a first write
/// 1,000, exactly; nothing else is known.
Settings priced() {
  Settings settings = checked();
  cost::CostTable table{"6.18", "made up", {}};
  const auto set = [](cost::OperationCost& cost, Counter counter, double each) {
    cost.trained.set(std::to_underlying(counter));
    cost.each[std::to_underlying(counter)] = each;
  };
  cost::OperationCost mprotect;
  mprotect.trained.set();  // and free, but for what follows
  mprotect.fixed = 100;
  mprotect.error = {0.1, 0.2, 5};
  set(mprotect, Counter::ptes_changed, 10);
  table.operations[std::to_underlying(cost::Operation::mprotect)] = mprotect;
  cost::OperationCost access;
  access.trained.set();
  set(access, Counter::fault_write, 1000);
  table.operations[std::to_underlying(cost::Operation::access)] = access;
  settings.costs = {table};
  return settings;
}

constexpr const char* kProgram = R"(
a = mmap(NULL, 4 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, 4 * PAGE)
measure "round trip" repeat 3 {
    mprotect(a, 4 * PAGE, PROT_NONE) = 0
    mprotect(a, 4 * PAGE, PROT_READ|PROT_WRITE) = 0
}
measure "with an unknown" { mprotect(a, 4 * PAGE, PROT_READ) = 0; munmap(a, 4 * PAGE) = 0 }
mprotect(a, PAGE, PROT_READ) = -1 ENOMEM
)";

const run::Row& measure(const run::Report& report, std::string_view name) {
  return *std::ranges::find_if(
      report.rows, [&](const run::Row& row) { return row.kind == run::RowKind::measure && row.text == name; });
}

TEST(Predictions, AreTheMeanOfARowsExecutionsWithTheirError) {
  const run::Report report = run_on("model:6.18", kProgram, priced());
  EXPECT_EQ(problems(report), "");
  const run::Row& store = row_at(report, 3);
  EXPECT_EQ(store.metric, run::Metric::predicted);
  EXPECT_THAT(store.samples, testing::ElementsAre(4000));
  EXPECT_EQ(store.error, 0);
  const run::Row& none = row_at(report, 5);
  EXPECT_THAT(none.samples, testing::ElementsAre(140));
  ASSERT_TRUE(none.error);
  EXPECT_DOUBLE_EQ(*none.error, 0.2);
}

TEST(Predictions, OfAMeasureBlockAreTheSumOfItsOperations) {
  const run::Report report = run_on("model:6.18", kProgram, priced());
  EXPECT_THAT(measure(report, "round trip").samples, testing::ElementsAre(280));
  EXPECT_DOUBLE_EQ(*measure(report, "round trip").error, 0.2);
}

TEST(Predictions, AreAbsentWhereACostIsUnknownOrACallFails) {
  const run::Report report = run_on("model:6.18", kProgram, priced());
  EXPECT_THAT(row_at(report, 2).samples, testing::IsEmpty());
  EXPECT_THAT(measure(report, "with an unknown").samples, testing::IsEmpty());
  EXPECT_THAT(row_at(report, 9).samples, testing::IsEmpty());
}

TEST(Predictions, AreMadeOnlyWhereTheKernelHasCosts) {
  const run::Report report = run_on("model:6.8", kProgram, priced());
  EXPECT_EQ(row_at(report, 3).metric, run::Metric::none);
  EXPECT_THAT(row_at(report, 3).samples, testing::IsEmpty());
}

TEST(Predictions, UseTheKernelsCostsForItsPoliciesToo) {
  const run::Report report = run_on("model:6.18+upgrade=page-count", kProgram, priced());
  EXPECT_THAT(row_at(report, 5).samples, testing::ElementsAre(140));
}

}  // namespace
}  // namespace faultline::machine::test
