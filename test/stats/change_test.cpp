// Two medians held against each other.
#include "stats/change.h"

#include <gtest/gtest.h>

#include <vector>

namespace faultline::stats {
namespace {

const std::vector<double> kAroundHundred{97, 98, 99, 100, 100, 100, 101, 102, 103};
const std::vector<double> kAroundTwoHundred{196, 198, 199, 200, 200, 200, 201, 202, 204};
const std::vector<double> kAroundHundredAndOne{98, 99, 100, 101, 101, 101, 102, 103, 104};

TEST(ChangeOfMedians, GivesDifferenceAndRatioOfTheSecondToTheFirst) {
  const Change change = *change_of_medians(kAroundHundred, kAroundTwoHundred, 0.95);
  EXPECT_DOUBLE_EQ(change.difference, 100);
  EXPECT_DOUBLE_EQ(change.ratio, 2);
  EXPECT_EQ(change.verdict, Verdict::different);
}

TEST(ChangeOfMedians, IntervalGoesFromTheFarEndsOfBothMedians) {
  // Nine samples at 97.5%: ranks 1 and 9 (ranks 2 and 8 cover 96.1%).
  const Change change = *change_of_medians(kAroundHundred, kAroundTwoHundred, 0.95);
  EXPECT_DOUBLE_EQ(change.ratio_interval->low, 196.0 / 103.0);
  EXPECT_DOUBLE_EQ(change.ratio_interval->high, 204.0 / 97.0);
  EXPECT_GE(change.ratio_interval->confidence, 0.95);
}

TEST(ChangeOfMedians, IsNotProvenWhereTheIntervalHoldsOne) {
  EXPECT_EQ(change_of_medians(kAroundHundred, kAroundHundredAndOne, 0.95)->verdict, Verdict::not_proven);
}

TEST(ChangeOfMedians, OfEqualSamplesIsNotCalledEqual) {
  EXPECT_EQ(change_of_medians(kAroundHundred, kAroundHundred, 0.95)->verdict, Verdict::not_proven);
}

TEST(ChangeOfMedians, OfTooFewSamplesIsNotProvenHoweverFarApart) {
  const std::vector<double> one{1};
  const std::vector<double> thousand{1000};
  const Change single = *change_of_medians(one, thousand, 0.95);
  EXPECT_DOUBLE_EQ(single.ratio, 1000);
  EXPECT_FALSE(single.ratio_interval);
  EXPECT_EQ(single.verdict, Verdict::not_proven);
  const std::vector<double> ones{1, 1, 1, 1};
  const std::vector<double> thousands{1000, 1000, 1000, 1000};
  EXPECT_EQ(change_of_medians(ones, thousands, 0.95)->verdict, Verdict::not_proven);
}

TEST(ChangeOfMedians, OfNothingOrOfAMedianOfZeroIsNothing) {
  const std::vector<double> zeros{0, 0, 0};
  EXPECT_FALSE(change_of_medians({}, kAroundHundred, 0.95));
  EXPECT_FALSE(change_of_medians(kAroundHundred, {}, 0.95));
  EXPECT_FALSE(change_of_medians(zeros, kAroundHundred, 0.95));
}

}  // namespace
}  // namespace faultline::stats
