// Many tests at once.
#include "stats/many.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace faultline::stats {
namespace {

TEST(Corrected, CallsWhatTheExampleOfBenjaminiAndHochbergCalls) {
  // The fifteen p-values of their paper's §3.2: at 0.05, the four smallest are rejected (Bonferroni would reject
  // three).
  const std::vector<double> p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                              0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> q = corrected(p);
  EXPECT_EQ(std::ranges::count_if(q, [](double x) { return x <= 0.05; }), 4);
  EXPECT_NEAR(q[3], 0.0095 * 15 / 4, 1e-12);
  EXPECT_DOUBLE_EQ(q[14], 1);
}

TEST(Corrected, LeavesASingleValueAlone) { EXPECT_EQ(corrected(std::vector<double>{0.03}), std::vector<double>{0.03}); }

TEST(Corrected, KeepsTheOrderGivenAndNeverGoesBelowTheValue) {
  const std::vector<double> p{0.5, 0.01, 0.04};
  const std::vector<double> q = corrected(p);
  EXPECT_DOUBLE_EQ(q[1], 0.03);
  EXPECT_DOUBLE_EQ(q[2], 0.06);
  EXPECT_DOUBLE_EQ(q[0], 0.5);
}

TEST(Corrected, OfNothingIsNothing) { EXPECT_TRUE(corrected({}).empty()); }

TEST(Corrected, RaisesAnyAlarmAmongTwoHundredRowsAsSeldomAsOneTest) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(0, 1);
  int with_alarm = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> p(200);
    for (double& x : p) x = uniform(random);
    with_alarm += std::ranges::min(corrected(p)) <= 0.05 ? 1 : 0;
  }
  // 100 expected, standard deviation 10.
  EXPECT_NEAR(with_alarm, 100, 40);
}

}  // namespace
}  // namespace faultline::stats
