// The last column: a percentage only where a difference is proven or counted.
#include "report/change_column.h"

#include <gtest/gtest.h>

#include "reports.h"

namespace faultline::report {
namespace {

ChangeColumn column_of(std::vector<run::Report> reports) {
  const Comparison comparison = comparison_of(std::move(reports));
  return change_column(align(comparison));
}

std::string only_cell(run::Row first, run::Row second) {
  return column_of({report_of("a", {std::move(first)}), report_of("b", {std::move(second)})}).cells.front();
}

TEST(ChangeColumn, ComparesExactCountsAsSuch) {
  EXPECT_EQ(only_cell(exact(9, "x", 4731), exact(9, "x", 7861)), "+66.2%");
  EXPECT_EQ(only_cell(exact(9, "x", 4731), exact(9, "x", 4731)), "0.0%");
  // Spread among counts is no doubt about them.
  run::Row spread = exact(9, "x", 31790);
  spread.samples = {31790, 31790, 31853};
  EXPECT_EQ(only_cell(spread, exact(9, "x", 32)), "−99.9%");
}

TEST(ChangeColumn, IsEmptyAcrossMetrics) {
  EXPECT_EQ(only_cell(exact(9, "x", 4731), measured(9, "x", std::vector<double>(10, 412))), "");
}

TEST(ChangeColumn, IsEmptyForCountsAndForThreeTimedMachines) {
  EXPECT_EQ(only_cell(counted(9, "x", 1), counted(9, "x", 1)), "");
  EXPECT_TRUE(column_of({report_of("a", {exact(9, "x", 1)}), report_of("b", {exact(9, "x", 2)}),
                         report_of("c", {exact(9, "x", 3)})})
                  .empty());
}

TEST(ChangeColumn, IsEmptyForUnlikeShapes) {
  EXPECT_EQ(only_cell(shaped(exact(9, "x", 1), {.vmas = 12}), shaped(exact(9, "x", 2), {.vmas = 1000})), "");
}

TEST(ChangeColumn, GivesAPercentageWhereProcessesProveIt) {
  const ChangeColumn column = column_of({report_of("a", {in_rounds(measured(9, "x", {90, 95, 100, 105, 110}))}),
                                         report_of("b", {in_rounds(measured(9, "x", {190, 195, 200, 205, 210}))})});
  EXPECT_EQ(column.cells.front(), "+100.0%");
  ASSERT_EQ(column.notes.size(), 1u);
  EXPECT_NE(column.notes.front().text.find("95% confidence"), std::string::npos);
}

TEST(ChangeColumn, GivesNoPercentageWhereSpreadLeavesNothingProven) {
  EXPECT_EQ(only_cell(in_rounds(measured(9, "x", {90, 95, 100, 105, 110, 115, 120, 125})),
                      in_rounds(measured(9, "x", {92, 97, 102, 107, 112, 117, 122, 127}))),
            "not proven");
}

TEST(ChangeColumn, ProvesNothingFromOneProcessHoweverFarApart) {
  const ChangeColumn column = column_of({report_of("a", {measured(9, "x", std::vector<double>(50, 100))}),
                                         report_of("b", {measured(9, "x", std::vector<double>(50, 200))})});
  EXPECT_EQ(column.cells.front(), "not proven");
  ASSERT_EQ(column.notes.size(), 1u);
  EXPECT_NE(column.notes.front().text.find("--rounds"), std::string::npos);
}

}  // namespace
}  // namespace faultline::report
