#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/counters.h"
#include "report/subject.h"
#include "report/table.h"

namespace faultline::report {

struct DirtyOptions {
  std::optional<std::uint64_t> calls;    // memory calls in an interval
  std::optional<std::uint64_t> touches;  // or pages touched in it; without either a tenth of the recorded ones
};

/// What one tracker adds to the run, over all intervals.
struct TrackerFigures {
  std::string name;
  std::string note;  // why it could not be, or what to know
  bool possible = true;
  std::uint64_t calls = 0;  // that it makes
  std::uint64_t dirty = 0;  // pages that it has seen written to, each once in each interval
  std::uint64_t most_vmas = 0;
  std::uint64_t handler_runs = 0;  // of the program's, for a signal or for an event of a userfaultfd
  Counters added;                  // modulo 2^64: a tracker may spare what would have been
};

struct DirtyFigures {
  std::uint64_t intervals = 0;
  std::uint64_t tracked_pages = 0;  // of private writable memory, at the begin of an interval, at most
  std::uint64_t most_vmas = 0;      // without a tracker
  std::vector<TrackerFigures> trackers;
};

/// Runs the recording without and with each tracker of dirty pages.
DirtyFigures compare_trackers(const Subject& subject, const DirtyOptions& options);

/// A row for each tracker: what it adds in one interval, on average.
Table dirty_table(const DirtyFigures& figures);

}  // namespace faultline::report
