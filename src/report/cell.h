#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/counters.h"
#include "report/comparison.h"

/// What stands in the cells of a table.
namespace faultline::report {

/// The confidence of every interval and verdict that a table shows.
inline constexpr double kConfidence = 0.95;

/// Which counters a table shows under each operation.
enum class Counted : std::uint8_t {
  differences,  // faults by kind, and whatever differs between machines
  all,          // every counter that is not zero
};

/// The row's figure in its own metric: "412 ns  ±3%" (median, farther quartile), "4,731" instructions; empty where the
/// machine times nothing, "–" where it should have and did not.
std::string figure(const run::Row* row);

/// "+66.2%" from the first timed cell to the second; "−1.2%, not proven" where the intervals leave no difference
/// proven at kConfidence. Nothing unless exactly two cells are timed, in the same metric, and the row is comparable.
std::optional<std::string> change(const AlignedRow& row);

/// The counters to show under the row.
std::vector<Counter> shown_counters(const AlignedRow& row, Counted counted);

/// The counter per call; "–" where the machine cannot see it or nothing was counted.
std::string count(const run::Row* row, Counter counter);

}  // namespace faultline::report
