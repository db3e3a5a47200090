#pragma once

#include <string>
#include <vector>

#include "run/row.h"

namespace faultline::report {

/// Something that was counted on both sides, and not alike.
struct CountedDifference {
  std::string what;   // "faults, first write", "calls that failed", "VMAs after"
  std::string first;  // per call, as a table shows it
  std::string second;
};

/// Everything that two executions of the same operation counted differently: counters that both know, per call, the
/// calls that failed, and the shapes that they left. Empty where all of it agrees.
std::vector<CountedDifference> counted_differences(const run::Row& first, const run::Row& second);

/// Do both rows count the same per call? Without rounding.
bool same_per_call(const run::Row& a, const run::Row& b, Counter counter);

}  // namespace faultline::report
