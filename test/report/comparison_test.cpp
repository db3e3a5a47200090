// Which rows stand side by side, and which of them may be compared (design.md §8).
#include "report/comparison.h"

#include <gtest/gtest.h>

#include "reports.h"

namespace faultline::report {
namespace {

std::string first_refusal(std::vector<run::Report> reports) {
  const Comparison comparison = comparison_of(std::move(reports));
  return align(comparison).front().refusal;
}

TEST(Comparison, BringsTheSameOperationSideBySide) {
  const Comparison comparison = comparison_of({report_of("a", {counted(1, "x", 1), counted(2, "y", 1)}),
                                               report_of("b", {counted(1, "x", 1), counted(2, "y", 1)})});
  const auto rows = align(comparison);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].cells[0]->text, "x");
  EXPECT_EQ(rows[0].cells[1]->text, "x");
  EXPECT_EQ(rows[1].cells[1]->text, "y");
}

TEST(Comparison, KeepsRowsThatOnlyOneMachineReachedInTheOrderOfTheProgram) {
  const Comparison comparison = comparison_of(
      {report_of("stopped", {counted(1, "x", 1), counted(9, "z", 1)}),
       report_of("b", {counted(1, "x", 1), counted(5, "y", 1), counted(9, "z", 1), counted(11, "w", 1)})});
  const auto rows = align(comparison);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1].any().text, "y");
  EXPECT_EQ(rows[1].cells[0], nullptr);
  EXPECT_EQ(rows[2].any().text, "z");
  EXPECT_EQ(rows[3].any().text, "w");
}

TEST(Comparison, TellsTwoOperationsOfOneLineApart) {
  const Comparison comparison = comparison_of({report_of("a", {counted(1, "x", 1), counted(1, "x", 2)}),
                                               report_of("b", {counted(1, "x", 1), counted(1, "x", 2)})});
  const auto rows = align(comparison);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].cells[1]->calls, 1u);
  EXPECT_EQ(rows[1].cells[1]->calls, 2u);
}

TEST(Comparison, IsRefusedWhereVmasDiffer) {
  EXPECT_EQ(first_refusal({report_of("model:6.12", {shaped(counted(9, "munmap", 1), {.vmas = 12})}),
                           report_of("live", {shaped(counted(9, "munmap", 1), {.vmas = 1000})})}),
            "12 VMAs on model:6.12 against 1,000 on live");
}

TEST(Comparison, IsRefusedWherePresentPagesDiffer) {
  EXPECT_EQ(first_refusal({report_of("a", {shaped(counted(9, "x", 1), {.vmas = 1, .present = 32})}),
                           report_of("b", {shaped(counted(9, "x", 1), {.vmas = 1, .present = 0})})}),
            "32 pages present on a against 0 on b");
}

TEST(Comparison, IsRefusedWhereHugePagesDiffer) {
  EXPECT_EQ(first_refusal({report_of("a", {shaped(counted(9, "x", 1), {.huge = 1})}),
                           report_of("b", {shaped(counted(9, "x", 1), {.huge = 0})})}),
            "1 huge page on a against 0 on b");
}

TEST(Comparison, IsRefusedWhereCallsDiffer) {
  EXPECT_EQ(first_refusal({report_of("a", {counted(9, "x", 1000)}), report_of("b", {counted(9, "x", 512)})}),
            "1,000 calls on a against 512 on b");
}

TEST(Comparison, LeavesOutAMachineThatDidNotReachTheOperation) {
  const Comparison comparison = comparison_of({report_of("a", {counted(9, "x", 1000), counted(10, "y", 0)}),
                                               report_of("b", {counted(9, "x", 0), counted(10, "y", 0)})});
  const auto rows = align(comparison);
  EXPECT_EQ(rows[0].cells[1], nullptr);
  EXPECT_EQ(rows[0].refusal, "");
  // That nobody reached it is a result.
  EXPECT_NE(rows[1].cells[0], nullptr);
  EXPECT_NE(rows[1].cells[1], nullptr);
}

TEST(Comparison, DoesNotHoldAFieldAgainstAMachineThatCannotSeeIt) {
  EXPECT_EQ(first_refusal({report_of("a", {shaped(counted(9, "x", 1), {.vmas = 1, .present = 32, .huge = 0})}),
                           report_of("b", {shaped(counted(9, "x", 1), {.vmas = 1})})}),
            "");
}

TEST(Comparison, FindsADifferenceThatTheFirstMachineCannotSee) {
  EXPECT_EQ(first_refusal({report_of("blind", {counted(9, "x", 1)}),
                           report_of("b", {shaped(counted(9, "x", 1), {.present = 1})}),
                           report_of("c", {shaped(counted(9, "x", 1), {.present = 2})})}),
            "1 page present on b against 2 on c");
}

TEST(Comparison, IsNotRefusedForWritablePagesOrTheShapeAfter) {
  // What an operation leaves, and which entries are writable, is what is being compared.
  EXPECT_EQ(first_refusal({report_of("a", {shaped(counted(9, "x", 1), {.vmas = 1, .writable = 0}, {.vmas = 3})}),
                           report_of("b", {shaped(counted(9, "x", 1), {.vmas = 1, .writable = 32}, {.vmas = 1})})}),
            "");
}

TEST(Comparison, OfTimesIsRefusedWhereCallsFailedOnOneSide) {
  run::Row failing = measured(9, "mprotect", {100, 100, 100});
  failing.failures = 3;
  EXPECT_EQ(first_refusal({report_of("a", {failing}), report_of("b", {measured(9, "mprotect", {100, 100, 100})})}),
            "3 of 3 calls failed on a against 0 on b");
}

TEST(Comparison, OfABlockIsRefusedWithAnOperationInIt) {
  const auto rows = [](std::uint64_t vmas) {
    return std::vector{shaped(in_block(counted(9, "munmap", 10), "sweep"), {.vmas = vmas}),
                       as_block(counted(8, "", 10), "sweep"), as_block(counted(20, "", 10), "other")};
  };
  const Comparison comparison = comparison_of({report_of("a", rows(12)), report_of("b", rows(1000))});
  const auto aligned = align(comparison);
  EXPECT_EQ(aligned[1].refusal, "it contains line 9");
  EXPECT_TRUE(aligned[2].comparable());
}

}  // namespace
}  // namespace faultline::report
