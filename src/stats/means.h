#pragma once

#include <optional>

#include "stats/interval.h"
#include "stats/summary.h"

/// Two means held against each other. Only the number of samples, their mean and their standard deviation are read, so
/// that a published summary can be judged as well as samples. All of it leans on means being nearly normal.
namespace faultline::stats {

/// The outcome of Welch's t test.
struct Welch {
  double difference = 0;  // the second mean minus the first
  double t = 0;           // infinite where neither side spreads and the means differ
  double degrees = 0;     // of freedom, by Welch and Satterthwaite; n + m - 2 where neither side spreads
  double p = 1;           // two-sided
  Interval interval;      // of the difference
};

/// Welch's t test: the two sides may spread differently. `confidence` in (0, 1). Nothing for fewer than three samples
/// on a side.
std::optional<Welch> welch(const Summary& first, const Summary& second, double confidence);

/// What ministat(1) says of two sets: Student's t with a pooled standard deviation.
struct PooledDifference {
  double difference = 0;  // the second mean minus the first
  double half_width = 0;  // "difference +/- half_width"
  double percent = 0;     // both as a percentage of the first mean
  double percent_half_width = 0;
  double pooled_sd = 0;
  /// Does the interval leave 0 out?
  bool proven() const;
};

/// As ministat(1) computes it, so that figures can be held against the ones that people publish: t comes from a printed
/// table, which has three decimals, and beyond 100 degrees of freedom only the row for infinitely many (1.960 at 95%;
/// the true value for 198 is 1.972). The percentage takes the first mean as known. `confidence` in (0, 1). Nothing for
/// fewer than three samples on a side or a first mean of 0.
std::optional<PooledDifference> pooled_difference(const Summary& first, const Summary& second, double confidence);

}  // namespace faultline::stats
