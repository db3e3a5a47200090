#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/cost_tree.h"
#include "report/recording_report.h"

/// Where a recording's costs are, by the calls that led there.
namespace faultline::report {

enum class Weight : std::uint8_t {
  faults,   // ru_minflt
  ptes,     // changed
  flushes,  // of the TLB
};
std::optional<Weight> weight_named(std::string_view name);

/// "ls;main;print_dir;mprotect 3": the operation is the innermost.
std::string recording_folded(const RecordingReport& report, record::Symbols& symbols, Weight weight);

/// What accesses cost stands at their lines; a memory call is a function that the line calls.
std::string recording_callgrind(const RecordingReport& report, record::Symbols& symbols, Weight weight);

}  // namespace faultline::report
