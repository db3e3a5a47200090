#include "machine/vm/counted.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

namespace faultline::machine::vm {
namespace {

using run::Mark;
using run::WindowRecord;

/// What the plugin counted, by row.
class Tally {
 public:
  explicit Tally(std::size_t rows) : samples_(rows), counts_(rows) {}

  void take(const WindowRecord& record) {
    Operation& operation = operations_[record.processor];
    switch (static_cast<Mark>(record.mark)) {
      case Mark::window_ends:
        window(operation, record);
        break;
      case Mark::operation_ends:
        finish(operation, record);
        for (Operation& repetition : repetitions_) {
          combine(repetition.instructions, operation.instructions);
          repetition.counts += operation.counts;
        }
        operation = {};
        break;
      case Mark::repetition_begins:
        repetitions_.emplace_back();
        break;
      case Mark::repetition_ends:
        if (repetitions_.empty()) break;
        finish(repetitions_.back(), record);
        repetitions_.pop_back();
        break;
      default:
        break;
    }
  }

  /// Nothing where a window was broken.
  const std::vector<std::optional<double>>& samples(std::size_t row) const { return samples_[row]; }
  /// In all executions of the row that count.
  const Counters& counts(std::size_t row) const { return counts_[row]; }
  const Interrupts& interrupts() const { return interrupts_; }

 private:
  using Count = std::optional<double>;
  /// Or a repetition of several.
  struct Operation {
    Count instructions = 0;
    Counters counts;
  };

  static void combine(Count& sum, const Count& more) { sum = sum && more ? Count(*sum + *more) : std::nullopt; }

  void finish(const Operation& operation, const WindowRecord& record) {
    const std::size_t row = run::row_of_mark(record.argument);
    if (row >= samples_.size()) return;
    if ((record.argument & run::kSampledFlag) != 0) samples_[row].push_back(operation.instructions);
    if ((record.argument & run::kCountedFlag) != 0) counts_[row] += operation.counts;
  }

  void window(Operation& operation, const WindowRecord& record) {
    operation.counts[Counter::exceptions] += record.faults;
    operation.counts[Counter::ipis] += record.ipis;
    if (record.argument == run::kBrokenWindow) {
      operation.instructions = std::nullopt;
      return;
    }
    combine(operation.instructions, static_cast<double>(record.instructions));
    if (record.interrupts == 0) return;
    ++interrupts_.windows;
    interrupts_.instructions += record.interrupts;
  }

  std::vector<std::vector<Count>> samples_;
  std::vector<Counters> counts_;
  std::map<std::uint64_t, Operation> operations_;  // by processor
  std::vector<Operation> repetitions_;
  Interrupts interrupts_;
};

/// False when what was counted does not fit.
bool complete(run::Row& row, const std::vector<std::optional<double>>& counted) {
  // Of many samples the ledger keeps the first.
  if (counted.size() < row.samples.size()) return row.samples.empty();
  for (std::size_t i = 0; i < row.samples.size(); ++i) {
    if (!counted[i]) return false;
    row.samples[i] += *counted[i];
  }
  return true;
}

}  // namespace

Interrupts add_counted(run::Report& report, const std::vector<WindowRecord>& records, CounterSet seen) {
  Tally tally(report.rows.size());
  for (const WindowRecord& record : records) tally.take(record);
  std::string lost;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    run::Row& row = report.rows[i];
    for (const Counter counter : {Counter::exceptions, Counter::ipis}) {
      if (!seen.test(std::to_underlying(counter)) || row.counted_calls == 0) continue;
      row.counted[counter] = tally.counts(i)[counter];
      row.known.set(std::to_underlying(counter));
    }
    if (complete(row, tally.samples(i))) continue;
    row.samples.clear();
    lost += fmt::format("{}{}", lost.empty() ? "" : ", ", row.line);
  }
  if (!lost.empty()) {
    report.notes.push_back(
        fmt::format("lines {}: no instructions, as several threads or processes ran into each other", lost));
  }
  return tally.interrupts();
}

void add_paths(run::Report& report, const std::vector<CallNode>& nodes, const std::vector<std::string>& names) {
  std::vector<std::uint32_t> place(nodes.size(), run::CallPath::kNoParent);
  std::vector<std::uint64_t> attributed(report.rows.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const CallNode& node = nodes[i];
    const std::size_t row = run::row_of_mark(node.argument);
    if ((node.argument & run::kSampledFlag) == 0 || row >= report.rows.size()) continue;
    std::vector<run::CallPath>& paths = report.rows[row].paths;
    place[i] = static_cast<std::uint32_t>(paths.size());
    paths.push_back({node.parent < i ? place[node.parent] : run::CallPath::kNoParent,
                     node.function < names.size() ? names[node.function] : "(unnamed)", node.instructions, node.calls});
    attributed[row] += node.instructions;
  }
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    double total = 0;
    for (const double sample : report.rows[row].samples) total += sample;
    const auto whole = static_cast<std::uint64_t>(total);
    if (report.rows[row].paths.empty() || whole < attributed[row]) continue;
    report.rows[row].paths.push_back(
        {run::CallPath::kNoParent, "(program)", whole - attributed[row], report.rows[row].samples.size()});
  }
}

}  // namespace faultline::machine::vm
