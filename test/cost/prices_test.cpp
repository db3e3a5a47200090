// Predictions are sums of known costs, with the error of the operation; what is not known is borrowed and said so, or
// there is no prediction.
#include "cost/prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace faultline::cost {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CostTable table(const char* profile, double fixed, std::vector<std::pair<Counter, double>> each,
                Operation operation = Operation::mprotect) {
  CostTable table{profile, "", {}};
  OperationCost cost;
  cost.fixed = fixed;
  cost.rows = 9;
  cost.error = {0.02, 0.1, 9};
  for (const auto& [counter, price] : each) {
    cost.each[std::to_underlying(counter)] = price;
    cost.trained.set(std::to_underlying(counter));
  }
  table.operations[std::to_underlying(operation)] = cost;
  return table;
}

Counters counted(std::vector<std::pair<Counter, std::uint64_t>> values) {
  Counters counters;
  for (const auto& [counter, value] : values) counters[counter] = value;
  return counters;
}

TEST(Prices, PredictASumAndHowFarOffItMayBe) {
  Prices prices(table("5.10", 300, {{Counter::ptes_changed, 50}}), {});
  const auto prediction = prices.predict(Operation::mprotect, counted({{Counter::ptes_changed, 4}}));
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(prediction->instructions, 500);
  EXPECT_DOUBLE_EQ(prediction->uncertainty, 50);
  EXPECT_TRUE(prices.notes().empty());
}

TEST(Prices, PredictNothingForAnOperationWithoutCosts) {
  Prices prices(table("5.10", 300, {}), {});
  EXPECT_FALSE(prices.predict(Operation::munmap, {}));
}

TEST(Prices, BorrowFromTheOldestNewerKernelOfTheArchitectureAndSaySo) {
  const std::vector<CostTable> others{
      table("7.3", 0, {{Counter::ptes_upgraded, 70}}), table("6.1", 0, {{Counter::ptes_upgraded, 98}}),
      table("arm64/6.1", 0, {{Counter::ptes_upgraded, 5}}), table("4.9", 0, {{Counter::ptes_upgraded, 1}})};
  Prices prices(table("5.10", 300, {}), others);
  const auto prediction = prices.predict(Operation::mprotect, counted({{Counter::ptes_upgraded, 10}}));
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(prediction->instructions, 300 + 980);
  // A tenth of what is known, and all that is borrowed.
  EXPECT_DOUBLE_EQ(prediction->uncertainty, 30 + 980);
  EXPECT_THAT(prices.notes(), ElementsAre(HasSubstr("98 instructions each are taken from 6.1")));
}

TEST(Prices, BorrowFromAnOlderKernelWhereNoNewerOneKnows) {
  const std::vector<CostTable> others{table("5.10", 0, {{Counter::ptes_upgraded, 1}}),
                                      table("6.1", 0, {{Counter::ptes_upgraded, 2}})};
  Prices prices(table("6.12", 300, {}), others);
  EXPECT_DOUBLE_EQ(prices.predict(Operation::mprotect, counted({{Counter::ptes_upgraded, 1}}))->instructions, 302);
}

TEST(Prices, PredictNothingWhereACostIsKnownNowhere) {
  Prices prices(table("5.10", 300, {}), std::vector{table("6.1", 0, {})});
  EXPECT_FALSE(prices.predict(Operation::mprotect, counted({{Counter::ptes_upgraded, 1}})));
  EXPECT_TRUE(prices.notes().empty());
}

TEST(Prices, TakeACheckAheadForTheCheapestVisitThatIsKnown) {
  CostTable known = table("6.12", 300, {{Counter::vma_visits, 400}});
  known.operations[std::to_underlying(Operation::mseal)] =
      *table("6.12", 900, {{Counter::vma_visits, 130}}, Operation::mseal).of(Operation::mseal);
  Prices prices(known, {});
  const auto prediction =
      prices.predict(Operation::mprotect, counted({{Counter::vma_visits, 20}, {Counter::vmas_checked, 10}}));
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(prediction->instructions, 300 + 10 * 400 + 10 * 130);
  EXPECT_THAT(prices.notes(), ElementsAre(HasSubstr("that of mseal")));
}

TEST(Prices, TakeANestedFaultForOneThatMincoreGivesUp) {
  CostTable known = table("arm64/6.12", 0, {{Counter::fault_read, 1200}}, Operation::access);
  known.operations[std::to_underlying(Operation::mincore)] =
      *table("arm64/6.12", 900, {{Counter::fault_signal, 700}}, Operation::mincore).of(Operation::mincore);
  Prices prices(known, {});
  const auto prediction =
      prices.predict(Operation::access, counted({{Counter::fault_read, 1}, {Counter::fault_nested, 1}}));
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(prediction->instructions, 1900);
}

}  // namespace
}  // namespace faultline::cost
