// Summaries of samples, against values worked out by hand.
#include "stats/summary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace faultline::stats {
namespace {

TEST(Summary, OfNoSamplesIsNothing) {
  EXPECT_FALSE(summarise({}));
  EXPECT_FALSE(median({}));
}

TEST(Summary, OfOneSampleIsThatSampleWithoutSpread) {
  const std::vector<double> one{7};
  const Summary s = *summarise(one);
  EXPECT_EQ(s.n, 1u);
  EXPECT_EQ(s.min, 7);
  EXPECT_EQ(s.q25, 7);
  EXPECT_EQ(s.median, 7);
  EXPECT_EQ(s.q75, 7);
  EXPECT_EQ(s.max, 7);
  EXPECT_EQ(s.mean, 7);
  EXPECT_EQ(s.sd, 0);
  EXPECT_FALSE(relative_spread(s));
}

TEST(Summary, DoesNotNeedSortedSamples) {
  const std::vector<double> samples{9, 2, 4, 4, 5, 4, 7, 5};
  const Summary s = *summarise(samples);
  EXPECT_EQ(s.n, 8u);
  EXPECT_EQ(s.min, 2);
  EXPECT_EQ(s.max, 9);
  EXPECT_EQ(s.median, 4.5);
  EXPECT_EQ(s.mean, 5);
  // Squared distances from the mean: 16 9 1 1 0 1 4 0 = 32, by 7.
  EXPECT_DOUBLE_EQ(s.sd, std::sqrt(32.0 / 7.0));
}

TEST(Summary, QuantilesAreLinearBetweenOrderStatistics) {
  // The example of type 7: position p(n-1) counted from 0.
  const std::vector<double> ascending{10, 20, 30, 40};
  EXPECT_DOUBLE_EQ(quantile(ascending, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(ascending, 0.25), 17.5);
  EXPECT_DOUBLE_EQ(quantile(ascending, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile(ascending, 0.75), 32.5);
  EXPECT_DOUBLE_EQ(quantile(ascending, 0.9), 37);
  EXPECT_DOUBLE_EQ(quantile(ascending, 1), 40);
}

TEST(Summary, MedianOfAnOddNumberIsTheMiddleSample) {
  const std::vector<double> samples{3, 1, 1000};
  EXPECT_EQ(median(samples), 3);
}

TEST(Summary, StandardDeviationSurvivesAMeanFarAboveTheSpread) {
  // A sum of squares in double precision would lose all of this spread.
  const std::vector<double> samples{1e9 + 1, 1e9 + 2, 1e9 + 3};
  EXPECT_DOUBLE_EQ(summarise(samples)->sd, 1.0);
}

TEST(Summary, RelativeSpreadIsTheFartherQuartile) {
  // Quartiles 90 and 130 about a median of 100.
  const std::vector<double> samples{80, 90, 100, 130, 500};
  EXPECT_DOUBLE_EQ(*relative_spread(*summarise(samples)), 0.3);
}

TEST(Summary, RelativeSpreadNeedsThreeSamplesAndAMedianOtherThanZero) {
  const std::vector<double> two{1, 2};
  EXPECT_FALSE(relative_spread(*summarise(two)));
  const std::vector<double> zeros{0, 0, 0, 0};
  EXPECT_FALSE(relative_spread(*summarise(zeros)));
}

}  // namespace
}  // namespace faultline::stats
