#pragma once

#include <cstdint>
#include <optional>

#include "record/import.h"
#include "record/symbols.h"
#include "report/page_history.h"
#include "report/recorded_call.h"
#include "run/step.h"

namespace faultline::report {

/// For every page of one process the recorded call that named it last.
class CallHistory {
 public:
  CallHistory(const record::Import& recording, record::Symbols& symbols) : recording_(recording), symbols_(symbols) {}

  /// A step of this process has ended.
  void end(const run::Step& step, const run::StepOutcome& outcome);

  std::optional<PageChange> last_change(Addr page) const { return pages_.last_change(page); }
  /// Who that was; empty where no recorded call was.
  CallSite last_call(Addr page) const;
  CallSite call_of_change(const std::optional<PageChange>& change) const;

 private:
  const record::Import& recording_;
  record::Symbols& symbols_;
  PageHistory pages_;
};

}  // namespace faultline::report
