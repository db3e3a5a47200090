// Several processes folded into one report.
#include "report/rounds.h"

#include <gtest/gtest.h>

#include "reports.h"

namespace faultline::report {
namespace {

run::Report round_of(std::vector<double> samples, run::CheckStatus status = run::CheckStatus::held) {
  run::Report report = report_of("live", {measured(9, "x", std::move(samples), 2)});
  report.checks.push_back({.position = {}, .text = "x == 1", .status = status, .evaluations = 5, .detail = "was 2"});
  return report;
}

TEST(Rounds, TakesTheMedianOfEachProcessAsASample) {
  Rounds rounds;
  rounds.add(round_of({1, 2, 30}));
  rounds.add(round_of({4, 5, 60}));
  rounds.add(round_of({7, 8, 9}));
  const run::Report report = rounds.report();
  EXPECT_EQ(report.rows.front().samples, (std::vector<double>{2, 5, 8}));
  EXPECT_EQ(report.rows.front().rounds, 3u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_EQ(report.notes.front(), "3 processes; a sample is the median of one process");
}

TEST(Rounds, AddsUpCountsAndExpectations) {
  Rounds rounds;
  rounds.add(round_of({1, 2, 3}));
  rounds.add(round_of({1, 2, 3}, run::CheckStatus::failed));
  rounds.add(round_of({1, 2, 3}));
  const run::Report report = rounds.report();
  EXPECT_EQ(report.rows.front().counted_calls, 9u);
  EXPECT_EQ(report.rows.front().counted[Counter::exceptions], 18u);
  EXPECT_EQ(report.checks.front().status, run::CheckStatus::failed);
  EXPECT_EQ(report.checks.front().evaluations, 15u);
}

TEST(Rounds, TellsOfUnlikeWorkAndOfTheFirstRunThatDidNotComplete) {
  Rounds rounds;
  rounds.add(round_of({1, 2, 3}));
  run::Report stopped = round_of({1, 2});
  stopped.ending = run::Ending::timeout;
  rounds.add(stopped);
  rounds.add(round_of({1, 2, 3}));
  const run::Report report = rounds.report();
  EXPECT_EQ(report.ending, run::Ending::timeout);
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_EQ(report.notes.back(), "line 9 did not do the same work in every process");
}

TEST(Rounds, GivesNoSampleForAProcessThatDidNotGetThere) {
  Rounds rounds;
  rounds.add(round_of({1, 2, 3}));
  rounds.add(round_of({}));
  EXPECT_EQ(rounds.report().rows.front().rounds, 1u);
}

}  // namespace
}  // namespace faultline::report
