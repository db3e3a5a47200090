#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace faultline::stats {

/// How a p-value was had.
enum class RankMethod : std::uint8_t {
  exact,   // every way to deal the pooled samples out was counted
  normal,  // the normal approximation, corrected for ties and for continuity
};

/// The outcome of a Mann–Whitney test.
struct RankTest {
  double u = 0;  // pairs in which the second sample is the greater; a tie counts half
  double p = 1;  // two-sided
  RankMethod method = RankMethod::normal;
};

/// Up to this many samples on each side the distribution is counted out.
inline constexpr std::size_t kMostForExact = 20;

/// The Mann–Whitney U test (the Wilcoxon rank-sum test): does one set tend to be greater than the other? It supposes
/// independent samples and nothing of their distribution, and a few wild samples move it little. Ties get their mean
/// rank; where both sides have at most kMostForExact samples the p-value is exact under the ties that there are
/// (Lehmann, "Nonparametrics", §1.2 and §1.4). Nothing for fewer than three samples on a side.
std::optional<RankTest> mann_whitney(std::span<const double> first, std::span<const double> second);

}  // namespace faultline::stats
