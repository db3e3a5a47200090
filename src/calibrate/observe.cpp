#include "calibrate/observe.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <optional>

#include "calibrate/refill.h"
#include "run/plan.h"
#include "run/step.h"

namespace faultline::calibrate {
namespace {

/// What the model says of one line.
struct Line {
  std::optional<cost::Operation> operation;
  bool mixed = false;  // different operations, or some executions failed
  bool atomic = false;
  std::uint64_t executions = 0;
  std::uint64_t failures = 0;
  Counters counted;
};

void place_rows(const std::vector<run::PlannedStatement>& block,
                std::map<const program::Statement*, std::uint32_t>& rows) {
  for (const run::PlannedStatement& planned : block) {
    if (planned.row != run::kNoIndex) rows[planned.statement] = planned.row;
    place_rows(planned.body, rows);
  }
}

std::optional<cost::Operation> operation_of(const run::Step& step) {
  if (const auto* call = std::get_if<program::SystemCall>(&step.statement->node)) {
    return cost::operation_of(call->sys, step.arguments);
  }
  if (std::holds_alternative<program::Access>(step.statement->node)) return cost::Operation::access;
  return std::nullopt;
}

/// mincore into memory that it may not write is the one failure that has a cost of interest: the kernel's own fault,
/// which it gives up.
bool gave_up_a_fault(std::optional<cost::Operation> operation, const run::StepOutcome& outcome) {
  return operation == cost::Operation::mincore && outcome.error == Errno{EFAULT};
}

class Listener final : public run::StepListener {
 public:
  explicit Listener(const run::Plan& plan) : lines_(plan.rows.size()) { place_rows(plan.body, rows_); }

  void begin(const run::Step& /*step*/) override {}
  void end(const run::Step& step, const run::StepOutcome& outcome) override {
    const auto row = rows_.find(step.statement);
    if (row == rows_.end()) return;
    Line& line = lines_[row->second];
    const std::optional<cost::Operation> operation = operation_of(step);
    if (line.executions > 0 && line.operation != operation) line.mixed = true;
    line.operation = operation;
    const auto* access = std::get_if<program::Access>(&step.statement->node);
    line.atomic = access != nullptr && access->kind == AccessKind::atomic;
    const bool failed = outcome.error || outcome.signal;
    if (failed && !gave_up_a_fault(operation, outcome)) line.mixed = true;
    line.failures += failed ? 1 : 0;
    ++line.executions;
    line.counted += outcome.counted;
  }

  const std::vector<Line>& lines() const { return lines_; }

 private:
  std::map<const program::Statement*, std::uint32_t> rows_;
  std::vector<Line> lines_;
};

/// Nobody asks why the model decides as it does.
class NoObserver final : public mm::Observer {
 public:
  void on(const mm::Event& /*event*/) override {}
};

double mean(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double per_call(std::uint64_t total, std::uint64_t calls) {
  return calls == 0 ? 0 : static_cast<double>(total) / static_cast<double>(calls);
}

/// Why the row tells nothing of the operation's cost; nothing when it does.
std::optional<std::string> flaw(const Line& line, const run::Row& row) {
  if (row.calls != line.executions || row.failures != line.failures) {
    return fmt::format("{} of {} executions failed, on the model {} of {}", row.failures, row.calls, line.failures,
                       line.executions);
  }
  // The kernel tries a copy that a fault has stopped again, byte by byte: as_taken() knows how often.
  if (line.failures > 0) return std::nullopt;
  const double faults = per_call(row.counted[Counter::exceptions], row.counted_calls);
  const double predicted_faults = per_call(line.counted[Counter::exceptions], line.executions);
  if (faults != predicted_faults)
    return fmt::format("it took {:g} faults, on the model {:g}", faults, predicted_faults);
  return std::nullopt;
}

/// QEMU executes an atomic of x86-64 as a load and a store, so the kernel is asked for the page by a read, which costs
/// something else even where it takes as many faults.
bool was_read_first(const Line& line, const program::MachineId& machine) {
  const bool touches = line.counted[Counter::fault_write] + line.counted[Counter::fault_file] > 0;
  return line.atomic && touches && machine.kind == "vm" && machine.arch == "x86-64";
}

/// What was counted, with the faults that the kernel gave up as the machine saw them.
Counters as_taken(const Line& line, const run::Row& row) {
  Counters counted = line.counted;
  if (line.failures > 0 && row.counted_calls > 0) {
    counted[Counter::fault_signal] = row.counted[Counter::exceptions] * line.executions / row.counted_calls;
  }
  return counted;
}

std::string how_it_ended(const run::Report& report) {
  return fmt::format("{} did not run it to its end (line {}): {}", report.machine, report.ended_at.line,
                     report.detail.empty() ? "killed by a signal" : report.detail);
}

}  // namespace

std::expected<Observed, std::string> observe(const Named& named, const mm::Profile& profile, machine::Machine& machine,
                                             const machine::Settings& settings) {
  const run::Plan plan = run::make_plan(*named.program);
  Listener listener(plan);
  NoObserver nobody;
  const run::Report modelled = machine::explain(profile, *named.program, settings, listener, nobody);
  machine::Settings by_function = settings;
  by_function.attribute = machine::Attribute::functions;
  const run::Report counted = machine.run(*named.program, by_function);
  for (const run::Report* report : {&modelled, &counted}) {
    if (report->ending != run::Ending::completed) {
      return std::unexpected(fmt::format("{}: {}", named.name, how_it_ended(*report)));
    }
  }
  Observed observed{{}, {}, counted.kernel};
  const Refills refills(counted.rows);
  for (std::size_t i = 0; i < std::min(listener.lines().size(), counted.rows.size()); ++i) {
    const Line& line = listener.lines()[i];
    const run::Row& row = counted.rows[i];
    if (row.measure == kWarmUp) continue;
    if (!line.operation || line.mixed || line.executions < kFewestExecutions || row.samples.empty()) continue;
    if (row.metric != run::Metric::instructions) {
      return std::unexpected(machine.name() + " does not count instructions; expected vm:KERNEL");
    }
    if (was_read_first(line, machine.id())) {
      observed.left_out.push_back(
          fmt::format("{}:{}: {}: QEMU reads before an atomic writes", named.name, row.line, row.text));
      continue;
    }
    if (const auto why = flaw(line, row)) {
      observed.left_out.push_back(fmt::format("{}:{}: {}: {}", named.name, row.line, row.text, *why));
      continue;
    }
    const double restocked = refills.of(row);
    observed.lines.push_back({*line.operation, named.name, row.line, row.text, as_taken(line, row), line.executions,
                              mean(row.samples) - restocked, restocked});
  }
  return observed;
}

}  // namespace faultline::calibrate
