#include "machine/vm/counted.h"

#include <fmt/format.h>

#include <optional>

namespace faultline::machine::vm {
namespace {

using run::Mark;
using run::WindowRecord;

/// What the plugin counted, by row.
class Tally {
 public:
  explicit Tally(std::size_t rows) : samples_(rows), row_faults_(rows) {}

  void take(const WindowRecord& record) {
    switch (static_cast<Mark>(record.mark)) {
      case Mark::window_ends:
        window(record);
        break;
      case Mark::operation_ends:
        if (sampled(record)) add(row(record), operation_);
        if (counted(record)) add_faults(row(record), faults_);
        for (Repetition& repetition : repetitions_) {
          combine(repetition.instructions, operation_);
          repetition.faults += faults_;
        }
        operation_ = 0;
        faults_ = 0;
        break;
      case Mark::repetition_begins:
        repetitions_.push_back({0, 0});
        break;
      case Mark::repetition_ends:
        if (repetitions_.empty()) break;
        if (sampled(record)) add(row(record), repetitions_.back().instructions);
        if (counted(record)) add_faults(row(record), repetitions_.back().faults);
        repetitions_.pop_back();
        break;
      default:
        break;
    }
  }

  /// Nothing where a window was broken.
  const std::vector<std::optional<double>>& samples(std::size_t row) const { return samples_[row]; }
  /// Page faults in all executions of the row that count.
  std::uint64_t faults(std::size_t row) const { return row_faults_[row]; }
  const Interrupts& interrupts() const { return interrupts_; }

 private:
  using Count = std::optional<double>;
  struct Repetition {
    Count instructions;
    std::uint64_t faults;
  };

  static bool sampled(const WindowRecord& record) { return (record.argument & run::kSampledFlag) != 0; }
  static bool counted(const WindowRecord& record) { return (record.argument & run::kCountedFlag) != 0; }
  static std::size_t row(const WindowRecord& record) { return run::row_of_mark(record.argument); }
  static void combine(Count& sum, const Count& more) { sum = sum && more ? Count(*sum + *more) : std::nullopt; }

  void add(std::size_t row, const Count& count) {
    if (row < samples_.size()) samples_[row].push_back(count);
  }

  void add_faults(std::size_t row, std::uint64_t faults) {
    if (row < row_faults_.size()) row_faults_[row] += faults;
  }

  void window(const WindowRecord& record) {
    faults_ += record.faults;
    if (record.argument == run::kBrokenWindow) {
      operation_ = std::nullopt;
      return;
    }
    combine(operation_, static_cast<double>(record.instructions));
    if (record.interrupts == 0) return;
    ++interrupts_.windows;
    interrupts_.instructions += record.interrupts;
  }

  std::vector<std::vector<Count>> samples_;
  std::vector<std::uint64_t> row_faults_;
  Count operation_ = 0;
  std::uint64_t faults_ = 0;  // of this operation
  std::vector<Repetition> repetitions_;
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

Interrupts add_counted(run::Report& report, const std::vector<WindowRecord>& records, Sees sees) {
  Tally tally(report.rows.size());
  for (const WindowRecord& record : records) tally.take(record);
  std::string lost;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    run::Row& row = report.rows[i];
    if (sees == Sees::page_faults && row.counted_calls > 0) row.counted[Counter::exceptions] = tally.faults(i);
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
