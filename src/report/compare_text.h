#pragma once

#include <cstdint>
#include <string>

#include "report/compare.h"
#include "report/style.h"

namespace faultline::report {

/// The two sides as the reader knows them.
struct SideNames {
  std::string first;  // "before.json"
  std::string second;
};

enum class Detail : std::uint8_t { table_only, summaries };

/// What `faultline compare` prints: a table for each pair of runs (medians with their intervals, the difference of
/// means with Welch's interval, the corrected p-value, the verdict), under it what was counted differently and which
/// rows were refused and why, and with Detail::summaries for each measured row what ministat(1) would say, and both
/// tests in full. Ends with how many rows differ and what the verdicts mean.
std::string compare_text(const RunComparison& comparison, const SideNames& names, Detail detail, Colour colour);

/// The lines of ministat(1) for two sets of samples, from the heading to the difference or the sentence that none is
/// proven. Nothing for fewer than three samples on a side.
std::string ministat_text(std::span<const double> first, std::span<const double> second, double confidence);

}  // namespace faultline::report
