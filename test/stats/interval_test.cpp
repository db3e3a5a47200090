// The interval of the median: ranks from the published table, coverage from exact counting of Pascal's triangle.
#include "stats/interval.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace faultline::stats {
namespace {

// The samples 1 … n, so that a value is its own rank.
std::vector<double> ranks(std::size_t n) {
  std::vector<double> samples(n);
  std::iota(samples.begin(), samples.end(), 1.0);
  return samples;
}

// Of the 2^n ways in which n samples can lie about the median, the share in which fewer than `k` lie below it.
double exact_tail(unsigned n, unsigned k) {
  std::vector<double> row{1};
  for (unsigned i = 0; i < n; ++i) {
    row.push_back(0);
    for (std::size_t j = row.size() - 1; j > 0; --j) row[j] = (row[j] + row[j - 1]) / 2;
    row[0] /= 2;
  }
  return std::accumulate(row.begin(), row.begin() + k, 0.0);
}

TEST(MedianInterval, IsRefusedForFewerThanThreeSamples) {
  EXPECT_FALSE(median_interval({}, 0.95));
  EXPECT_FALSE(median_interval(ranks(1), 0.95));
  EXPECT_FALSE(median_interval(ranks(2), 0.95));
  EXPECT_TRUE(median_interval(ranks(3), 0.95));
}

TEST(MedianInterval, OfTooFewSamplesForTheConfidenceIsTheWholeRangeAndSaysItsCoverage) {
  // 1 - 2/2^n.
  const Interval three = *median_interval(ranks(3), 0.95);
  EXPECT_EQ(three.low, 1);
  EXPECT_EQ(three.high, 3);
  EXPECT_DOUBLE_EQ(three.confidence, 0.75);
  const Interval five = *median_interval(ranks(5), 0.95);
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
  EXPECT_DOUBLE_EQ(five.confidence, 0.9375);
}

TEST(MedianInterval, TakesTheRanksOfThePublishedTable) {
  // Two-sided 95% order-statistic intervals for the median.
  struct Entry {
    std::size_t n;
    double low;
    double high;
  };
  for (const Entry& entry : {Entry{6, 1, 6}, Entry{8, 1, 8}, Entry{9, 2, 8}, Entry{10, 2, 9}, Entry{15, 4, 12},
                             Entry{20, 6, 15}, Entry{25, 8, 18}, Entry{30, 10, 21}, Entry{50, 18, 33}}) {
    const Interval interval = *median_interval(ranks(entry.n), 0.95);
    EXPECT_EQ(interval.low, entry.low) << "n = " << entry.n;
    EXPECT_EQ(interval.high, entry.high) << "n = " << entry.n;
  }
}

TEST(MedianInterval, IsTheNarrowestWithTheCoverageAskedForAtEverySize) {
  for (const double confidence : {0.5, 0.9, 0.95, 0.975, 0.99}) {
    for (unsigned n = 3; n <= 200; ++n) {
      const Interval interval = *median_interval(ranks(n), confidence);
      const auto k = static_cast<unsigned>(interval.low);
      ASSERT_EQ(interval.high, n - k + 1) << "not symmetric, n = " << n;
      ASSERT_NEAR(interval.confidence, 1 - 2 * exact_tail(n, k), 1e-12);
      if (k > 1) {
        ASSERT_LE(2 * exact_tail(n, k), 1 - confidence + 1e-12) << "n = " << n;
      }
      if (k < n / 2) {
        ASSERT_GT(2 * exact_tail(n, k + 1), 1 - confidence - 1e-12) << "wider than needed, n = " << n;
      }
    }
  }
}

TEST(MedianInterval, OfAMillionSamplesIsNarrow) {
  // Normal approximation: n/2 ± 1.96 √n / 2 = 500,000 ± 980.
  const Interval interval = *median_interval(ranks(1'000'000), 0.95);
  EXPECT_NEAR(interval.low, 499'020, 3);
  EXPECT_NEAR(interval.high, 500'980, 3);
}

TEST(MedianInterval, HoldsTheTrueMedianAsOftenAsItSays) {
  std::mt19937_64 random(20240611);
  std::exponential_distribution<double> skewed(1.0);  // true median: ln 2
  int held = 0;
  constexpr int kTrials = 4000;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> samples(25);
    std::ranges::generate(samples, [&] { return skewed(random); });
    if (median_interval(samples, 0.95)->contains(std::log(2.0))) ++held;
  }
  // Coverage of ranks 8 and 18 of 25 is 95.67%; five standard errors are 1.6%.
  EXPECT_NEAR(held / static_cast<double>(kTrials), 0.9567, 0.016);
}

TEST(MedianInterval, DoesNotDependOnTheOrderOfSamples) {
  EXPECT_TRUE(rc::check([](std::vector<int> values) {
    std::vector<double> samples(values.begin(), values.end());
    const auto before = median_interval(samples, 0.95);
    std::ranges::reverse(samples);
    const auto after = median_interval(samples, 0.95);
    RC_ASSERT(before.has_value() == (samples.size() >= 3));
    if (!before) return;
    RC_ASSERT(before->low == after->low);
    RC_ASSERT(before->high == after->high);
  }));
}

}  // namespace
}  // namespace faultline::stats
