#include "stats/summary.h"

#include <algorithm>
#include <cmath>

namespace faultline::stats {
namespace {

// Two passes: the textbook sum of squares cancels when the spread is small against the mean, as it is for timings.
double standard_deviation(std::span<const double> samples, double mean) {
  if (samples.size() < 2) return 0;
  double squares = 0;
  for (const double x : samples) squares += (x - mean) * (x - mean);
  return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

double mean_of(std::span<const double> samples) {
  double sum = 0;
  for (const double x : samples) sum += x;
  return sum / static_cast<double>(samples.size());
}

}  // namespace

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::ranges::sort(copy);
  return copy;
}

double quantile(std::span<const double> ascending, double p) {
  const double position = p * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= ascending.size()) return ascending.back();
  const double fraction = position - static_cast<double>(below);
  return ascending[below] + fraction * (ascending[below + 1] - ascending[below]);
}

std::optional<double> median(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  return quantile(sorted(samples), 0.5);
}

std::optional<Summary> summarise(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  const std::vector<double> ascending = sorted(samples);
  const double mean = mean_of(ascending);
  return Summary{.n = ascending.size(),
                 .min = ascending.front(),
                 .q25 = quantile(ascending, 0.25),
                 .median = quantile(ascending, 0.5),
                 .q75 = quantile(ascending, 0.75),
                 .max = ascending.back(),
                 .mean = mean,
                 .sd = standard_deviation(ascending, mean)};
}

std::optional<double> relative_spread(const Summary& summary) {
  if (summary.n < 3 || summary.median == 0) return std::nullopt;
  const double farther = std::max(summary.q75 - summary.median, summary.median - summary.q25);
  return farther / std::abs(summary.median);
}

}  // namespace faultline::stats
