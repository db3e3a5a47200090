#pragma once

#include <string>

#include "run/row.h"

namespace faultline::report {

/// One machine's runs of one program in several processes, folded into one report. Timings of one process resemble each
/// other more than those of the next one (where its memory lies, what else runs just then), so that a process gives one
/// independent sample of each row: its median.
class Rounds {
 public:
  /// Adds a run. Counts and expectations add up; an expectation that failed once has failed; the first run that did not
  /// complete says how all of them ended.
  void add(run::Report report);

  bool empty() const { return rounds_ == 0; }

  /// All that was added so far: every row with a sample per process, and a note that says so. A note names the first
  /// line whose calls, failures or shape were not the same in every process.
  run::Report report() const;

 private:
  void add_row(run::Row& all, const run::Row& next);

  run::Report all_;
  std::uint32_t rounds_ = 0;
  std::string unlike_;  // the first line whose work differed between processes, or empty
};

}  // namespace faultline::report
