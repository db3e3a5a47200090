#include "report/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "report/change_column.h"
#include "report/footnotes.h"
#include "report/format.h"
#include "report/grid.h"

namespace faultline::report {
namespace {

constexpr std::size_t kWidestText = 60;

std::string_view metric_text(run::Metric metric) {
  switch (metric) {
    case run::Metric::none:
      return "counts per call";
    case run::Metric::nanoseconds:
      return "ns: median, half of the samples within ±";
    case run::Metric::instructions:
      return "instructions";
    case run::Metric::predicted:
      return "~instructions, predicted from counts: ± the worst error on programs held out";
  }
  return "";
}

bool uses(const run::Report& report, run::Metric metric) {
  return std::ranges::any_of(report.rows, [&](const run::Row& row) { return row.metric == metric; });
}

// "counts per call · live: ns: median …": a machine is named where another has a different metric.
std::string metrics(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const auto metric :
       {run::Metric::none, run::Metric::instructions, run::Metric::predicted, run::Metric::nanoseconds}) {
    std::string machines;
    std::size_t users = 0;
    for (const run::Report& report : comparison.reports) {
      if (!uses(report, metric)) continue;
      ++users;
      machines += (machines.empty() ? "" : ", ") + report.machine;
    }
    if (users == 0) continue;
    const bool everywhere = users == comparison.reports.size() || metric == run::Metric::none;
    parts.push_back(everywhere ? std::string(metric_text(metric))
                               : fmt::format("{} in {}", machines, metric_text(metric)));
  }
  std::string text;
  for (const std::string& part : parts) text += " · " + part;
  return text;
}

std::string title(const Comparison& comparison) {
  std::string text = printable(comparison.program, 200);
  for (const ParamValue& param : comparison.params) text += fmt::format(" · {}={}", param.name, param.text);
  return text + metrics(comparison);
}

// A model's name says what it is; "live" does not.
std::string kernels(const Comparison& comparison) {
  std::string text;
  for (const run::Report& report : comparison.reports) {
    if (report.machine.starts_with("model:") || report.kernel.empty()) continue;
    text += fmt::format("{} is {}\n", report.machine, report.kernel);
  }
  return text;
}

std::string operation_title(const run::Row& row) {
  if (row.kind == run::RowKind::operation) return printable(row.text, kWidestText);
  const std::string name = printable(row.text, kWidestText);
  return row.calls > 1 ? fmt::format("{} (each of {})", name, thousands(row.calls)) : name;
}

std::vector<std::string> cells(const AlignedRow& row, std::string line, std::string text, auto cell) {
  std::vector<std::string> result{std::move(line), std::move(text)};
  std::ranges::transform(row.cells, std::back_inserter(result), cell);
  return result;
}

std::string failures(const run::Row* row) {
  if (row == nullptr) return "–";
  return row->failures == 0 ? "0" : fmt::format("{} of {}", thousands(row->failures), thousands(row->calls));
}

void add_row(Grid& grid, const AlignedRow& row, const std::string& change, Counted counted) {
  const run::Row& any = row.any();
  std::string line = any.kind == run::RowKind::operation ? std::to_string(any.line) : "";
  auto first = cells(row, std::move(line), operation_title(any), figure);
  first.push_back(change);
  grid.add(std::move(first));

  const auto has = [&](auto holds) {
    return std::ranges::any_of(row.cells, [&](const run::Row* cell) { return cell != nullptr && holds(*cell); });
  };
  if (has([&](const run::Row& cell) { return cell.calls != any.calls; })) {
    grid.add(cells(row, "", "  calls", [](const run::Row* cell) { return cell ? thousands(cell->calls) : "–"; }));
  }
  if (has([](const run::Row& cell) { return cell.failures > 0; })) {
    grid.add(cells(row, "", any.kind == run::RowKind::operation ? "  calls that failed" : "  repetitions that failed",
                   failures));
  }
  for (const Counter counter : shown_counters(row, counted)) {
    grid.add(cells(row, "", fmt::format("  {}", counter_title(counter)),
                   [&](const run::Row* cell) { return count(cell, counter); }));
  }
}

std::string table(const Comparison& comparison, const std::vector<AlignedRow>& rows, const ChangeColumn& changes,
                  Counted counted, Colour colour) {
  std::vector<Align> columns{Align::right, Align::left};
  columns.insert(columns.end(), comparison.reports.size() + 1, Align::right);
  Grid grid(std::move(columns));
  for (std::size_t i = 0; i < rows.size(); ++i) add_row(grid, rows[i], changes.cells[i], counted);
  std::vector<std::string> heading{"line", "operation"};
  for (const run::Report& report : comparison.reports) heading.push_back(report.machine);
  if (!changes.empty()) heading.emplace_back("change");
  grid.set_heading(std::move(heading));
  return grid.text(colour);
}

std::string lines(const std::vector<Footnote>& notes, Colour colour) {
  std::string text;
  for (const Footnote& note : notes) text += coloured(note.text, note.emphasis, colour) + "\n";
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string text_table(const Comparison& comparison, Counted counted, Colour colour) {
  const std::vector<AlignedRow> rows = align(comparison);
  const ChangeColumn changes = change_column(rows);
  std::string text = coloured(title(comparison), Emphasis::heading, colour) + "\n";
  if (!comparison.answers.empty()) text += printable(comparison.answers, 200) + "\n";
  text += kernels(comparison);
  if (!rows.empty()) text += "\n" + table(comparison, rows, changes, counted, colour);
  text += lines(changes.notes, colour);
  text += lines(refusals(rows), colour);
  text += lines(shapes(comparison, rows), colour);
  std::vector<Footnote> run_notes = checks(comparison);
  std::ranges::move(endings(comparison), std::back_inserter(run_notes));
  for (const std::string& note : comparison.notes) run_notes.push_back({printable(note, 400), Emphasis::aside});
  return text + lines(run_notes, colour);
}

}  // namespace faultline::report
