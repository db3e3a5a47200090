#include "stats/rank_test.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "stats/interval.h"

namespace faultline::stats {
namespace {

// Samples of equal value, and how many of them are the first side's. Twice the mean rank is whole.
struct TieGroup {
  std::size_t size = 0;
  std::size_t of_first = 0;
  std::size_t twice_rank = 0;
};

std::vector<TieGroup> tie_groups(std::span<const double> first, std::span<const double> second) {
  struct Sample {
    double value;
    std::size_t of_first;
  };
  std::vector<Sample> pooled;
  pooled.reserve(first.size() + second.size());
  for (const double x : first) pooled.push_back({x, 1});
  for (const double x : second) pooled.push_back({x, 0});
  std::ranges::sort(pooled, {}, &Sample::value);
  std::vector<TieGroup> groups;
  for (std::size_t i = 0; i < pooled.size(); ++i) {
    if (i == 0 || pooled[i].value != pooled[i - 1].value) groups.emplace_back();
    ++groups.back().size;
    groups.back().of_first += pooled[i].of_first;
  }
  std::size_t before = 0;
  for (TieGroup& group : groups) {
    group.twice_rank = 2 * before + group.size + 1;
    before += group.size;
  }
  return groups;
}

std::size_t twice_rank_sum(std::span<const TieGroup> groups) {
  std::size_t sum = 0;
  for (const TieGroup& group : groups) sum += group.of_first * group.twice_rank;
  return sum;
}

// The share of all ways to choose the first side's n samples of the pool whose rank sum lies at least as far from its
// mean as `observed`. All counts stay below 2^53: C(40, 20) is 1.4e11.
double exact_p(std::span<const TieGroup> groups, std::size_t n, std::size_t total, std::size_t observed) {
  const std::size_t sums = total * (total + 1) + 1;
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(sums, 0));
  ways[0][0] = 1;
  for (const TieGroup& group : groups) {
    // Downwards, so that a group is chosen from once.
    for (std::size_t have = n; have > 0; --have) {
      double choices = 1;
      for (std::size_t take = 1; take <= std::min(have, group.size); ++take) {
        choices = choices * static_cast<double>(group.size - take + 1) / static_cast<double>(take);
        const std::size_t shift = take * group.twice_rank;
        const std::vector<double>& from = ways[have - take];
        for (std::size_t sum = shift; sum < sums; ++sum) ways[have][sum] += choices * from[sum - shift];
      }
    }
  }
  const std::size_t mean = n * (total + 1);
  const auto distance = [mean](std::size_t sum) { return sum > mean ? sum - mean : mean - sum; };
  double as_far = 0;
  double all = 0;
  for (std::size_t sum = 0; sum < sums; ++sum) {
    all += ways[n][sum];
    if (distance(sum) >= distance(observed)) as_far += ways[n][sum];
  }
  return as_far / all;
}

double normal_p(std::span<const TieGroup> groups, double n, double m, double u) {
  const double total = n + m;
  double ties = 0;
  for (const TieGroup& group : groups) {
    const auto t = static_cast<double>(group.size);
    ties += t * t * t - t;
  }
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  const double away = std::abs(u - n * m / 2) - 0.5;
  // All samples equal, or U as near to its mean as it can be.
  if (variance <= 0 || away <= 0) return 1;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), away / std::sqrt(variance)));
}

}  // namespace

std::optional<RankTest> mann_whitney(std::span<const double> first, std::span<const double> second) {
  const std::size_t n = first.size();
  const std::size_t m = second.size();
  if (n < kFewestSamples || m < kFewestSamples) return std::nullopt;
  const std::vector<TieGroup> groups = tie_groups(first, second);
  const std::size_t observed = twice_rank_sum(groups);
  // U of the first side is its rank sum less the least that it can be; the second side has the rest of the pairs.
  const double u = static_cast<double>(n * m) - (static_cast<double>(observed) - static_cast<double>(n * (n + 1))) / 2;
  if (n <= kMostForExact && m <= kMostForExact) {
    return RankTest{.u = u, .p = exact_p(groups, n, n + m, observed), .method = RankMethod::exact};
  }
  return RankTest{
      .u = u, .p = normal_p(groups, static_cast<double>(n), static_cast<double>(m), u), .method = RankMethod::normal};
}

}  // namespace faultline::stats
