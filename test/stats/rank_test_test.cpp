// Mann–Whitney: published critical values, and exact p-values against counting every assignment.
#include "stats/rank_test.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace faultline::stats {
namespace {

double u_of(const std::vector<double>& first, const std::vector<double>& second) {
  double u = 0;
  for (const double a : first) {
    for (const double b : second) u += b > a ? 1 : b == a ? 0.5 : 0;
  }
  return u;
}

// By dealing the pooled samples out in every way.
double counted_p(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> pool = first;
  pool.insert(pool.end(), second.begin(), second.end());
  const double mean = static_cast<double>(first.size() * second.size()) / 2;
  const double observed = std::abs(u_of(first, second) - mean);
  double as_far = 0;
  double all = 0;
  for (unsigned deal = 0; deal < 1u << pool.size(); ++deal) {
    if (static_cast<std::size_t>(std::popcount(deal)) != first.size()) continue;
    std::vector<double> a;
    std::vector<double> b;
    for (std::size_t i = 0; i < pool.size(); ++i) (deal >> i & 1 ? a : b).push_back(pool[i]);
    ++all;
    as_far += std::abs(u_of(a, b) - mean) >= observed ? 1 : 0;
  }
  return as_far / all;
}

TEST(MannWhitney, GivesThePublishedExactProbabilities) {
  // Complete separation of n against n: 2 / C(2n, n).
  EXPECT_DOUBLE_EQ(mann_whitney(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6})->p, 2.0 / 20);
  const RankTest four = *mann_whitney(std::vector<double>{1, 2, 3, 4}, std::vector<double>{5, 6, 7, 8});
  EXPECT_DOUBLE_EQ(four.p, 2.0 / 70);
  EXPECT_DOUBLE_EQ(four.u, 16);
  EXPECT_EQ(four.method, RankMethod::exact);
  // Tables give 2 as the critical U of 5 against 5 at two-sided 5%: 2 is significant, 3 is not.
  EXPECT_LE(mann_whitney(std::vector<double>{1, 2, 3, 4, 7}, std::vector<double>{5, 6, 8, 9, 10})->p, 0.05);
  EXPECT_GT(mann_whitney(std::vector<double>{1, 2, 3, 4, 8}, std::vector<double>{5, 6, 7, 9, 10})->p, 0.05);
}

TEST(MannWhitney, OfThreeTiedAgainstThreeTiedIsNotFooledByTheNormalCurve) {
  // The approximation would give 0.047 here; 2 of the 20 deals are as far apart.
  EXPECT_DOUBLE_EQ(mann_whitney(std::vector<double>{1, 1, 1}, std::vector<double>{2, 2, 2})->p, 0.1);
}

TEST(MannWhitney, OfEqualSamplesHasAPOfOne) {
  const std::vector<double> same(50, 7);
  const std::vector<double> few(5, 7);
  EXPECT_EQ(mann_whitney(same, same)->p, 1);
  EXPECT_EQ(mann_whitney(few, few)->p, 1);
}

TEST(MannWhitney, IsRefusedForFewerThanThreeSamples) {
  EXPECT_FALSE(mann_whitney(std::vector<double>{1, 2}, std::vector<double>{1, 2, 3}));
  EXPECT_FALSE(mann_whitney(std::vector<double>{1, 2, 3}, std::vector<double>{}));
}

TEST(MannWhitney, CountsWhatDealingOutEveryWayCounts) {
  rc::check([] {
    const auto side = [] {
      const auto n = *rc::gen::inRange<std::size_t>(3, 6);
      return *rc::gen::container<std::vector<double>>(
          n, rc::gen::map(rc::gen::inRange(0, 8), [](int x) { return double(x); }));
    };
    const std::vector<double> first = side();
    const std::vector<double> second = side();
    const RankTest found = *mann_whitney(first, second);
    RC_ASSERT(std::abs(found.p - counted_p(first, second)) < 1e-12);
    RC_ASSERT(found.u == u_of(first, second));
    RC_ASSERT(std::abs(found.p - mann_whitney(second, first)->p) < 1e-12);
  });
}

TEST(MannWhitney, ApproximatesTheExactValueWhereItStopsCounting) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 1);
  for (int i = 0; i < 20; ++i) {
    std::vector<double> first(20);
    std::vector<double> second(20);
    for (double& x : first) x = std::round(noise(random) * 4);
    for (double& x : second) x = std::round((noise(random) + 0.5) * 4);
    const double exact = mann_whitney(first, second)->p;
    // The same distribution seen through one sample more at the pooled middle.
    std::vector<double> longer = second;
    longer.push_back(1);
    const RankTest approximate = *mann_whitney(first, longer);
    EXPECT_EQ(approximate.method, RankMethod::normal);
    EXPECT_NEAR(approximate.p, exact, 0.06);
  }
}

TEST(MannWhitney, RaisesFalseAlarmsAsOftenAsItSays) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> times(0, 1);
  int alarms = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> first(50);
    std::vector<double> second(50);
    for (double& x : first) x = times(random);
    for (double& x : second) x = times(random);
    alarms += mann_whitney(first, second)->p <= 0.05 ? 1 : 0;
  }
  // 200 expected, standard deviation 14.
  EXPECT_NEAR(alarms, 200, 56);
}

}  // namespace
}  // namespace faultline::stats
