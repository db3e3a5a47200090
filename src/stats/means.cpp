#include "stats/means.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

namespace faultline::stats {
namespace {

// The last row of ministat's table before the one for infinity.
constexpr double kLastRowOfTheTable = 100;

double t_quantile(double degrees, double confidence) {
  return boost::math::quantile(boost::math::students_t(degrees), (1 + confidence) / 2);
}

double table_t(double degrees, double confidence) {
  const double exact = degrees > kLastRowOfTheTable ? boost::math::quantile(boost::math::normal(), (1 + confidence) / 2)
                                                    : t_quantile(degrees, confidence);
  return std::round(exact * 1000) / 1000;
}

bool too_few(const Summary& first, const Summary& second) {
  return first.n < kFewestSamples || second.n < kFewestSamples;
}

}  // namespace

std::optional<Welch> welch(const Summary& first, const Summary& second, double confidence) {
  if (too_few(first, second)) return std::nullopt;
  const auto n = static_cast<double>(first.n);
  const auto m = static_cast<double>(second.n);
  const double a = first.sd * first.sd / n;
  const double b = second.sd * second.sd / m;
  const double difference = second.mean - first.mean;
  const double error = std::sqrt(a + b);
  if (error == 0) {
    const double infinite = std::copysign(std::numeric_limits<double>::infinity(), difference);
    return Welch{.difference = difference,
                 .t = difference == 0 ? 0 : infinite,
                 .degrees = n + m - 2,
                 .p = difference == 0 ? 1.0 : 0.0,
                 .interval = {.low = difference, .high = difference, .confidence = confidence}};
  }
  // Shares of the variance rather than the variances: their squares neither overflow nor vanish.
  const double share = a / (a + b);
  const double degrees = 1 / (share * share / (n - 1) + (1 - share) * (1 - share) / (m - 1));
  const double t = difference / error;
  const double half = t_quantile(degrees, confidence) * error;
  return Welch{.difference = difference,
               .t = t,
               .degrees = degrees,
               .p = 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), std::abs(t))),
               .interval = {.low = difference - half, .high = difference + half, .confidence = confidence}};
}

bool PooledDifference::proven() const { return std::abs(difference) > half_width; }

std::optional<PooledDifference> pooled_difference(const Summary& first, const Summary& second, double confidence) {
  if (too_few(first, second) || first.mean == 0) return std::nullopt;
  const auto n = static_cast<double>(first.n);
  const auto m = static_cast<double>(second.n);
  const double degrees = n + m - 2;
  const double variance = ((n - 1) * first.sd * first.sd + (m - 1) * second.sd * second.sd) / degrees;
  const double pooled = std::sqrt(variance);
  const double difference = second.mean - first.mean;
  const double half = table_t(degrees, confidence) * pooled * std::sqrt(1 / n + 1 / m);
  return PooledDifference{.difference = difference,
                          .half_width = half,
                          .percent = difference * 100 / first.mean,
                          .percent_half_width = half * 100 / std::abs(first.mean),
                          .pooled_sd = pooled};
}

}  // namespace faultline::stats
