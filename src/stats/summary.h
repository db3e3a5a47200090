#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// Pure functions on samples. They know nothing of what was measured; units are the caller's.
namespace faultline::stats {

/// What a set of samples looks like.
struct Summary {
  std::size_t n = 0;
  double min = 0;
  double q25 = 0;
  double median = 0;
  double q75 = 0;
  double max = 0;
  double mean = 0;
  double sd = 0;  // with n - 1 in the denominator; 0 for a single sample
};

/// A copy of the samples in ascending order: what quantile() and the intervals work on.
std::vector<double> sorted(std::span<const double> samples);

/// The quantile at `p` in [0, 1] of ascending, non-empty samples: linear between the two nearest order statistics
/// (type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996; the default of R and NumPy).
double quantile(std::span<const double> ascending, double p);

/// The middle sample, or the mean of the two in the middle. Nothing without samples.
std::optional<double> median(std::span<const double> samples);

/// Nothing without samples.
std::optional<Summary> summarise(std::span<const double> samples);

/// How far the farther quartile lies from the median, as a fraction of the median: half of the samples lie within. The
/// figure that a table shows as "±". Nothing for fewer than three samples or a median of 0.
std::optional<double> relative_spread(const Summary& summary);

}  // namespace faultline::stats
