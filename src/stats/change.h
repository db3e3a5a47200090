#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/interval.h"

namespace faultline::stats {

/// What can be said of a change between two sets of samples. Equality is never claimed.
enum class Verdict : std::uint8_t {
  different,   // 1 lies outside of the ratio's interval
  not_proven,  // it lies inside, or the samples are too few for the confidence asked for
};

/// The medians of two sets of samples held against each other.
struct Change {
  double difference = 0;  // median of the second minus median of the first
  double ratio = 0;       // median of the second by median of the first
  std::optional<Interval> ratio_interval;
  Verdict verdict = Verdict::not_proven;
};

/// Compares medians. The interval of the ratio goes from the ends of both medians' intervals; each of these is taken at
/// 1 - (1 - confidence) / 2, so that both hold together with `confidence` (Bonferroni). Nothing when a side has no
/// samples or the first median is not above 0. A ratio from fewer than three samples has no interval.
std::optional<Change> change_of_medians(std::span<const double> first, std::span<const double> second,
                                        double confidence);

}  // namespace faultline::stats
