#include "report/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/format.h"
#include "stats/summary.h"

namespace faultline::report {
namespace {

void reduce_to_median(run::Row& row) {
  const auto median = stats::median(row.samples);
  row.samples.clear();
  if (median) row.samples.push_back(*median);
  row.rounds = static_cast<std::uint32_t>(row.samples.size());
}

bool same_operation(const run::Row& a, const run::Row& b) {
  return a.kind == b.kind && a.line == b.line && a.text == b.text;
}

bool same_work(const run::Row& a, const run::Row& b) {
  return a.calls == b.calls && a.failures == b.failures && a.before == b.before && a.after == b.after;
}

void add_check(run::Check& all, const run::Check& next) {
  const std::uint64_t evaluations = all.evaluations + next.evaluations;
  if (all.status != run::CheckStatus::failed && next.status == run::CheckStatus::failed) all = next;
  all.evaluations = evaluations;
}

// Processes say the same with other figures: what they measured their clock to cost.
std::string without_figures(std::string note) {
  std::erase_if(note, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return note;
}

}  // namespace

void Rounds::add(run::Report report) {
  for (run::Row& row : report.rows) reduce_to_median(row);
  if (rounds_++ == 0) {
    all_ = std::move(report);
    return;
  }
  // Rows and expectations come in the order of the program. A process that ended early has fewer of them, or others.
  const std::size_t rows = std::min(all_.rows.size(), report.rows.size());
  for (std::size_t i = 0; i < rows; ++i) add_row(all_.rows[i], report.rows[i]);
  for (std::size_t i = 0; i < std::min(all_.checks.size(), report.checks.size()); ++i) {
    add_check(all_.checks[i], report.checks[i]);
  }
  if (all_.ending == run::Ending::completed && report.ending != run::Ending::completed) {
    all_.ending = report.ending;
    all_.signal = report.signal;
    all_.ended_at = report.ended_at;
    all_.detail = std::move(report.detail);
  }
  for (std::string& note : report.notes) {
    const bool is_new = std::ranges::find(all_.notes, without_figures(note), without_figures) == all_.notes.end();
    if (is_new) all_.notes.push_back(std::move(note));
  }
}

void Rounds::add_row(run::Row& all, const run::Row& next) {
  if (!same_operation(all, next) || !same_work(all, next)) {
    if (unlike_.empty()) unlike_ = all.line == 0 ? all.text : fmt::format("line {}", all.line);
  }
  if (!same_operation(all, next)) return;
  all.samples.insert(all.samples.end(), next.samples.begin(), next.samples.end());
  all.rounds += next.rounds;
  all.counted += next.counted;
  all.counted_calls += next.counted_calls;
  all.known &= next.known;
}

run::Report Rounds::report() const {
  run::Report report = all_;
  if (rounds_ > 1) {
    report.notes.push_back(fmt::format("{} processes; a sample is the median of one process", thousands(rounds_)));
  }
  if (!unlike_.empty()) {
    report.notes.push_back(fmt::format("{} did not do the same work in every process", unlike_));
  }
  return report;
}

}  // namespace faultline::report
