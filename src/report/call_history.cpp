#include "report/call_history.h"

namespace faultline::report {

void CallHistory::end(const run::Step& step, const run::StepOutcome& outcome) {
  const record::Origin* origin = origin_of(recording_, *step.statement);
  if (origin == nullptr || is_touch(*step.statement, *origin) || outcome.error) return;
  const PageChange change{step.number, step.statement, mm::Rule::none};
  if (const auto moved = moved_to(step, outcome)) pages_.record(*moved, change);
  if (const auto range = named_range(step)) pages_.record(*range, change);
}

CallSite CallHistory::last_call(Addr page) const { return call_of_change(last_change(page)); }

CallSite CallHistory::call_of_change(const std::optional<PageChange>& change) const {
  if (!change) return {};
  const record::Origin* origin = origin_of(recording_, *change->statement);
  return origin == nullptr ? CallSite{} : call_site(*origin, symbols_);
}

}  // namespace faultline::report
