// Means held against each other: the summaries that the arm64 thread published (seed message of 10 Jul 2024; facts B.6)
// and textbook cases.
#include "stats/means.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace faultline::stats {
namespace {

// An even number of samples with exactly this mean and standard deviation.
std::vector<double> samples_with(std::size_t n, double mean, double sd) {
  const double away = sd * std::sqrt(static_cast<double>(n - 1) / static_cast<double>(n));
  std::vector<double> samples;
  for (std::size_t i = 0; i < n; ++i) samples.push_back(i % 2 == 0 ? mean - away : mean + away);
  return samples;
}

Summary summary_of(const std::vector<double>& samples) { return *summarise(samples); }

// ministat prints with %g.
std::string printed(double value, double half_width) { return fmt::format("{:g} +/- {:g}", value, half_width); }

TEST(PooledDifference, GivesWhatTheArm64ThreadPrintedForExecOnly) {
  const Summary before = summary_of(samples_with(100, 183262, 12593.229));
  const Summary after = summary_of(samples_with(100, 238819.98, 15253.967));
  const PooledDifference found = *pooled_difference(before, after, 0.95);
  EXPECT_TRUE(found.proven());
  EXPECT_EQ(printed(found.difference, found.half_width), "55558 +/- 3877");
  EXPECT_EQ(fmt::format("{:g}% +/- {:g}%", found.percent, found.percent_half_width), "30.3161% +/- 2.11555%");
}

TEST(PooledDifference, ProvesNothingForTheArm64ThreadsReadableText) {
  const Summary before = summary_of(samples_with(100, 63537.7, 10358.873));
  const Summary after = summary_of(samples_with(100, 63119.02, 8792.7399));
  EXPECT_FALSE(pooled_difference(before, after, 0.95)->proven());
}

TEST(PooledDifference, GivesWhatMinistatPrintsForItsOwnExample) {
  // The iguana and chameleon files that come with it: at 95% nothing is proven, at 80% 240 +/- 212.215 are.
  const Summary iguana = summary_of({50, 200, 150, 400, 750, 400, 150});
  const Summary chameleon = summary_of({150, 400, 720, 500, 930});
  EXPECT_FALSE(pooled_difference(iguana, chameleon, 0.95)->proven());
  const PooledDifference at80 = *pooled_difference(chameleon, iguana, 0.80);
  EXPECT_TRUE(at80.proven());
  EXPECT_EQ(printed(at80.difference, at80.half_width), "-240 +/- 212.215");
  EXPECT_EQ(fmt::format("{:g}", at80.pooled_sd), "264.159");
}

TEST(PooledDifference, IsRefusedForFewerThanThreeSamplesOrAMeanOfZero) {
  const Summary two = summary_of({1, 2});
  const Summary three = summary_of({1, 2, 3});
  EXPECT_FALSE(pooled_difference(two, three, 0.95));
  EXPECT_FALSE(pooled_difference(three, two, 0.95));
  EXPECT_FALSE(pooled_difference(summary_of({-1, 0, 1}), three, 0.95));
}

TEST(Welch, GivesTheTextbookFigures) {
  // n = 4 and 6; variances 4 and 9, means 10 and 14: t = 4 / sqrt(1 + 1.5), df = 2.5^2 / (1/3 + 2.25/5).
  const Summary first = summary_of(samples_with(4, 10, 2));
  const Summary second = summary_of(samples_with(6, 14, 3));
  const Welch found = *welch(first, second, 0.95);
  EXPECT_NEAR(found.difference, 4, 1e-12);
  EXPECT_NEAR(found.t, 4 / std::sqrt(2.5), 1e-12);
  EXPECT_NEAR(found.degrees, 6.25 / (1.0 / 3 + 2.25 / 5), 1e-12);
  EXPECT_NEAR((found.interval.low + found.interval.high) / 2, 4, 1e-12);
}

TEST(Welch, IsStudentsTestWhereBothSidesSpreadAlike) {
  // Equal n and sd: df = 2n - 2 = 4, whose 97.5% quantile is 2.776 in every table.
  const std::vector<double> first{1, 2, 3};
  const std::vector<double> second{11, 12, 13};
  const Welch found = *welch(summary_of(first), summary_of(second), 0.95);
  EXPECT_NEAR(found.degrees, 4, 1e-12);
  const double half = 2.776 * std::sqrt(2.0 / 3);
  EXPECT_NEAR(found.interval.low, 10 - half, 1e-3);
  EXPECT_NEAR(found.interval.high, 10 + half, 1e-3);
}

TEST(Welch, OfSamplesWithoutSpreadNeedsNoDivision) {
  const Welch apart = *welch(summary_of({1, 1, 1}), summary_of({2, 2, 2}), 0.95);
  EXPECT_EQ(apart.p, 0);
  EXPECT_EQ(apart.interval.low, 1);
  const Welch same = *welch(summary_of({1, 1, 1}), summary_of({1, 1, 1}), 0.95);
  EXPECT_EQ(same.p, 1);
  EXPECT_EQ(same.t, 0);
}

TEST(Welch, IsRefusedForFewerThanThreeSamples) { EXPECT_FALSE(welch(summary_of({1, 2}), summary_of({1, 2, 3}), 0.95)); }

}  // namespace
}  // namespace faultline::stats
