#include "stats/interval.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cstddef>
#include <ranges>
#include <vector>

#include "stats/summary.h"

namespace faultline::stats {
namespace {

// The chance that fewer than `k` of `n` samples lie below the median.
double tail(std::size_t n, std::size_t k) {
  if (k == 0) return 0;
  const boost::math::binomial_distribution<double> below(static_cast<double>(n), 0.5);
  return boost::math::cdf(below, static_cast<double>(k - 1));
}

// The highest k, at least 1, for which [x(k), x(n-k+1)] still covers: the tails only grow with k.
std::size_t order_statistic(std::size_t n, double confidence) {
  const double allowed = (1 - confidence) / 2;
  const auto ranks = std::views::iota(std::size_t{1}, n / 2 + 1);
  const auto first_too_high = std::ranges::partition_point(ranks, [&](std::size_t k) { return tail(n, k) <= allowed; });
  return first_too_high == ranks.begin() ? 1 : *std::ranges::prev(first_too_high);
}

}  // namespace

std::optional<Interval> median_interval(std::span<const double> samples, double confidence) {
  const std::size_t n = samples.size();
  if (n < kFewestSamples) return std::nullopt;
  const std::vector<double> ascending = sorted(samples);
  const std::size_t k = order_statistic(n, confidence);
  return Interval{.low = ascending[k - 1], .high = ascending[n - k], .confidence = 1 - 2 * tail(n, k)};
}

}  // namespace faultline::stats
