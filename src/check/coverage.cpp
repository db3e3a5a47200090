#include "check/coverage.h"

#include <memory>
#include <set>
#include <utility>

#include "base/counters.h"
#include "base/errno.h"
#include "base/signal.h"
#include "check/expected_cells.h"
#include "machine/model_kernel.h"
#include "mm/trace.h"
#include "run/play.h"

namespace faultline::check {
namespace {

using machine::ModelKernel;
using run::StepEnding;
using run::StepKind;

/// What the model decided since the last step ended.
class Decisions final : public mm::Observer {
 public:
  void on(const mm::Event& event) override {
    if (event.rule != mm::Rule::none) rules.emplace_back(mm::rule_text(event.rule));
    if (event.kind == mm::EventKind::signal) {
      faults.emplace_back(
          counter_name(event.rule == mm::Rule::guard_region ? Counter::fault_guard : Counter::fault_signal));
    }
    if (event.kind == mm::EventKind::handled && event.counter != Counter::count_) {
      faults.emplace_back(counter_name(event.counter));
    }
  }

  std::vector<std::string_view> rules;
  std::vector<std::string_view> faults;
};

std::string outcome_name(const run::StepRecord& record) {
  switch (record.outcome) {
    case StepEnding::done:
      return "ok";
    case StepEnding::error:
      return std::string(errno_name(Errno{static_cast<int>(record.value)}));
    case StepEnding::signal:
      return std::string(signal_code_name(run::signal_number_of(record.value), run::signal_code_of(record.value)));
    case StepEnding::not_reached:
    case StepEnding::unsupported:
      break;
  }
  return "not done";
}

}  // namespace

void Coverage::add(const std::vector<Drawn>& programs) {
  for (const Drawn& drawn : programs) {
    const run::Case played = case_of(drawn);
    mm::System system(profile_);
    Decisions decisions;
    ModelKernel kernel(std::make_unique<mm::AddressSpace>(system), machine::CheckInvariants::never, &decisions);
    const auto sink = [&](ModelKernel&, std::size_t index, const run::StepRecord& record) {
      const Operation& operation = drawn.operations[index];
      const std::string name = operation_name(operation);
      const std::string argument = deciding_argument(operation);
      ++seen_[{name, argument, outcome_name(record)}];
      if (operation.step.kind == StepKind::access) {
        for (const std::string_view fault : decisions.faults) ++seen_[{name, argument, std::string(fault)}];
      }
      for (const std::string_view rule : decisions.rules) ++seen_[{"rule", "", std::string(rule)}];
      decisions.faults.clear();
      decisions.rules.clear();
    };
    run::CasePlayer<ModelKernel, decltype(sink)>(played, sink).play(kernel);
  }
}

void Coverage::add(const Coverage& other) {
  for (const auto& [cell, times] : other.seen_) seen_[cell] += times;
}

std::vector<Missing> Coverage::missing() const {
  // Expected without an argument means with any.
  std::set<Cell> seen;
  for (const auto& [cell, times] : seen_) {
    seen.insert(cell);
    seen.insert({cell.operation, "", cell.outcome});
  }
  std::vector<Missing> all;
  for (Cell& cell : expected_cells()) {
    if (seen.contains(cell)) continue;
    const std::string_view reason = why_unreachable(profile_, cell);
    all.push_back({std::move(cell), reason});
  }
  return all;
}

}  // namespace faultline::check
