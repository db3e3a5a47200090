#pragma once

#include <optional>
#include <span>

namespace faultline::stats {

/// A range that holds the true value with a probability of at least `confidence`.
struct Interval {
  double low = 0;
  double high = 0;
  double confidence = 0;

  constexpr bool contains(double x) const { return low <= x && x <= high; }
};

/// Fewer samples than this say nothing about spread, and get no interval.
inline constexpr std::size_t kFewestSamples = 3;

/// The confidence interval of the median between two order statistics. It supposes nothing of the distribution but that
/// the samples are independent: the number of samples below the true median is binomial with p = 1/2 (Conover,
/// "Practical Nonparametric Statistics", §3.2; Boost.Math gives the distribution).
///
/// The narrowest symmetric pair of order statistics is taken whose coverage is at least `confidence`, in (0, 1); the
/// result says the coverage that it has. Where even the whole range falls short (fewer than six samples for 0.95), the
/// whole range is given, with the lower coverage that it has. Nothing for fewer than three samples.
std::optional<Interval> median_interval(std::span<const double> samples, double confidence);

}  // namespace faultline::stats
