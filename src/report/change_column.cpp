#include "report/change_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/format.h"
#include "report/verdict.h"
#include "stats/summary.h"

namespace faultline::report {
namespace {

std::optional<RowPair> timed_pair(const AlignedRow& row) {
  if (!row.comparable()) return std::nullopt;
  std::vector<const run::Row*> timed;
  for (const run::Row* cell : row.cells) {
    if (cell != nullptr && is_timed(*cell)) timed.push_back(cell);
  }
  if (timed.size() != 2 || timed[0]->metric != timed[1]->metric) return std::nullopt;
  return RowPair{timed[0], timed[1]};
}

// The ratio has no meaning where the first median is nothing, or less: then the clock's own cost was all there was.
std::string cell(const RowPair& pair, const Verdict& verdict) {
  if (verdict.outcome == Outcome::not_proven) return "not proven";
  const double before = *stats::median(pair.first->samples);
  const double after = *stats::median(pair.second->samples);
  if (before == after) return "0.0%";
  return before > 0 ? percent_change(after / before) : "different";
}

std::vector<Footnote> notes(const std::vector<Verdict>& verdicts) {
  const auto on = [&](Basis basis) {
    return static_cast<std::uint64_t>(std::ranges::count(verdicts, basis, &Verdict::basis));
  };
  std::vector<Footnote> notes;
  if (const std::uint64_t tested = on(Basis::tested); tested > 0) {
    notes.push_back({fmt::format("change: shown where proven at {}% confidence, Mann–Whitney, {}", kConfidence * 100,
                                 tested == 1 ? "one row" : fmt::format("corrected for {} rows", thousands(tested)))});
  }
  if (on(Basis::one_process) > 0) {
    notes.push_back({"change not proven: one process on a side does not show how processes differ; add --rounds 10"});
  }
  return notes;
}

}  // namespace

bool ChangeColumn::empty() const {
  return std::ranges::all_of(cells, [](const std::string& cell) { return cell.empty(); });
}

ChangeColumn change_column(const std::vector<AlignedRow>& rows) {
  std::vector<RowPair> pairs;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (const auto pair = timed_pair(rows[i])) {
      pairs.push_back(*pair);
      places.push_back(i);
    }
  }
  const std::vector<Verdict> verdicts = judge(pairs, Independent::processes);
  ChangeColumn column{.cells = std::vector<std::string>(rows.size()), .notes = notes(verdicts)};
  for (std::size_t i = 0; i < pairs.size(); ++i) column.cells[places[i]] = cell(pairs[i], verdicts[i]);
  return column;
}

}  // namespace faultline::report
