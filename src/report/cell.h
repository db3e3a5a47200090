#pragma once

#include <string>
#include <vector>

#include "base/counters.h"
#include "report/comparison.h"

/// What stands in the cells of a table.
namespace faultline::report {

/// Which counters a table shows under each operation.
enum class Counted : std::uint8_t {
  differences,  // faults by kind, and what else differs between machines but details of costs
  all,          // every counter that is not zero
};

/// The row's figure in its own metric: "412 ns  ±3%" (median, farther quartile), "4,731" instructions, "~4,700 ±9%"
/// predicted instructions (the mean, and by how much it may be wrong); empty where the
/// machine times nothing, "–" where it should have and did not.
std::string figure(const run::Row* row);

/// The counters to show under the row.
std::vector<Counter> shown_counters(const AlignedRow& row, Counted counted);

/// The counter per call; "–" where the machine cannot see it or nothing was counted.
std::string count(const run::Row* row, Counter counter);

}  // namespace faultline::report
