#include "report/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/cell.h"
#include "report/counted_difference.h"
#include "report/format.h"
#include "report/grid.h"
#include "stats/interval.h"
#include "stats/means.h"
#include "stats/summary.h"

namespace faultline::report {
namespace {

constexpr std::size_t kWidestOperation = 50;

std::string title_of(const run::Row& row) {
  return row.kind == run::RowKind::operation && row.line > 0
             ? fmt::format("line {}   {}", row.line, printable(row.text, 200))
             : printable(row.text, 200);
}

bool is_counted(const ComparedRow& row) { return row.comparable() && row.verdict.basis == Basis::counted; }

bool is_measured(const ComparedRow& row) { return row.comparable() && row.verdict.basis != Basis::counted; }

int decimals_for(double value) { return std::abs(value) < 100 ? 1 : 0; }

// "1,132 ns [1,122–1,142]": the interval's ends with the median's decimals.
std::string median_cell(const run::Row& row) {
  if (!is_timed(row)) return "";
  if (is_exact(row)) return figure(&row);
  const double median = *stats::median(row.samples);
  const int places = decimals_for(median);
  std::string text = decimal(median, places) + (row.metric == run::Metric::nanoseconds ? " ns" : "");
  if (const auto interval = stats::median_interval(row.samples, kConfidence)) {
    text += fmt::format(" [{}–{}]", decimal(interval->low, places), decimal(interval->high, places));
  }
  return text;
}

std::optional<stats::Welch> welch_of(const ComparedRow& row) {
  const auto first = stats::summarise(row.first.samples);
  const auto second = stats::summarise(row.second.samples);
  if (!first || !second) return std::nullopt;
  return stats::welch(*first, *second, kConfidence);
}

std::string signed_decimal(double value, int places) { return (value > 0 ? "+" : "") + decimal(value, places); }

// The difference of means in percent of the first, with its interval's half width.
std::string difference_cell(const ComparedRow& row) {
  if (!row.comparable() || !is_timed(row.first)) return "";
  const double before = stats::summarise(row.first.samples)->mean;
  if (is_counted(row)) {
    const double ratio = row.second.samples.front() / row.first.samples.front();
    return row.first.samples.front() > 0 ? percent_change(ratio) : "";
  }
  const auto found = welch_of(row);
  if (!found || before <= 0) return "";
  const double half = (found->interval.high - found->interval.low) / 2;
  return fmt::format("{} ±{}%", percent_change(1 + found->difference / before), decimal(half / before * 100, 1));
}

std::string p_text(double p) { return p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p); }

std::string verdict_text(const ComparedRow& row) {
  if (!row.comparable()) return "not compared";
  switch (row.verdict.outcome) {
    case Outcome::different:
      return "different";
    case Outcome::same:
      return "same";
    case Outcome::not_proven:
      return row.verdict.basis == Basis::one_process ? "not proven (one process)" : "not proven";
  }
  return {};
}

std::string table(const ComparedRun& run, Colour colour) {
  Grid grid({Align::right, Align::left, Align::right, Align::right, Align::right, Align::right, Align::left});
  grid.set_heading({"line", "operation", "A", "B", "B − A", "p", "verdict"});
  for (const ComparedRow& row : run.rows) {
    const bool operation = row.first.kind == run::RowKind::operation && row.first.line > 0;
    grid.add({operation ? std::to_string(row.first.line) : "", printable(row.first.text, kWidestOperation),
              median_cell(row.first), median_cell(row.second), difference_cell(row),
              row.verdict.corrected ? p_text(*row.verdict.corrected) : "", verdict_text(row)},
             row.comparable() && row.verdict.outcome == Outcome::different ? Emphasis::failure : Emphasis::none);
  }
  return grid.text(colour);
}

std::string params_title(const StoredRun& run) {
  std::string text;
  for (const ParamValue& param : run.params) text += fmt::format(" · {}={}", param.name, param.text);
  return text;
}

std::string side_text(std::string_view letter, const std::string& name, const StoredRun& run) {
  std::string text = fmt::format("{} is {}", letter, printable(name, 200));
  if (!run.program.empty()) text += ": " + printable(run.program, 200);
  text += ", " + printable(run.report.machine, 100);
  if (!run.report.kernel.empty()) text += ", " + printable(run.report.kernel, 100);
  return text + "\n";
}

std::string counted_text(const ComparedRow& row) {
  std::string text;
  for (const CountedDifference& found : counted_differences(row.first, row.second)) {
    text += fmt::format("{}{} {} → {}", text.empty() ? "" : "; ", found.what, found.first, found.second);
  }
  return text.empty() ? "" : fmt::format("{}: {}\n", title_of(row.first), text);
}

std::string test_text(const Verdict& verdict) {
  const stats::RankTest& test = *verdict.test;
  const char* how = test.method == stats::RankMethod::exact ? "exact" : "normal approximation";
  std::string text = fmt::format("Mann–Whitney U = {:g}, p = {} ({})", test.u, p_text(test.p), how);
  if (verdict.corrected) text += fmt::format(", corrected p = {}", p_text(*verdict.corrected));
  return text + "\n";
}

std::string welch_text(const ComparedRow& row) {
  const auto found = welch_of(row);
  if (!found) return "";
  const int places = decimals_for(found->difference);
  return fmt::format("Welch t = {:.2f}, {:.1f} degrees of freedom, p = {}; B − A = {} in [{}, {}]\n", found->t,
                     found->degrees, p_text(found->p), signed_decimal(found->difference, places),
                     signed_decimal(found->interval.low, places), signed_decimal(found->interval.high, places));
}

std::string summary_text(const ComparedRow& row, Colour colour) {
  std::string text = "\n" + coloured(title_of(row.first), Emphasis::heading, colour) + "\n";
  text += ministat_text(row.first.samples, row.second.samples, kConfidence);
  if (row.verdict.test) text += test_text(row.verdict);
  text += welch_text(row);
  return text + fmt::format("verdict: {}\n", verdict_text(row));
}

std::string notes_text(const ComparedRun& run) {
  std::string text;
  for (const ComparedRow& row : run.rows) {
    if (!row.comparable()) text += fmt::format("{} not compared: {}\n", title_of(row.first), row.refusal);
  }
  for (const ComparedRow& row : run.rows) {
    if (row.comparable()) text += counted_text(row);
  }
  if (run.only_first > 0) text += fmt::format("{} only in A\n", plural(run.only_first, "row", "rows"));
  if (run.only_second > 0) text += fmt::format("{} only in B\n", plural(run.only_second, "row", "rows"));
  return text.empty() ? "" : "\n" + text;
}

std::string run_text(const ComparedRun& run, const SideNames& names, Detail detail, Colour colour) {
  std::string text = coloured(printable(run.first.program, 200) + params_title(run.first), Emphasis::heading, colour);
  text += "\n" + side_text("A", names.first, run.first) + side_text("B", names.second, run.second);
  if (!run.rows.empty()) text += "\n" + table(run, colour);
  text += notes_text(run);
  if (detail == Detail::table_only) return text + "\n";
  for (const ComparedRow& row : run.rows) {
    if (is_measured(row)) text += summary_text(row, colour);
  }
  return text + "\n";
}

bool any_one_process(const RunComparison& comparison) {
  return std::ranges::any_of(comparison.runs, [](const ComparedRun& run) {
    return std::ranges::any_of(
        run.rows, [](const ComparedRow& row) { return row.comparable() && row.verdict.basis == Basis::one_process; });
  });
}

std::string closing(const RunComparison& comparison) {
  std::size_t refused = 0;
  for (const ComparedRun& run : comparison.runs) {
    refused += static_cast<std::size_t>(std::ranges::count_if(run.rows, [](auto& row) { return !row.comparable(); }));
  }
  std::string text = fmt::format("{} different, {} not proven, {} counted the same, {} not compared\n",
                                 plural(comparison.count(Outcome::different), "row", "rows"),
                                 thousands(comparison.count(Outcome::not_proven)),
                                 thousands(comparison.count(Outcome::same)), thousands(refused));
  if (comparison.tested > 0) {
    text += fmt::format(
        "p: Mann–Whitney, corrected for {} (Benjamini–Hochberg): of the rows called different by it, at most {:.0f}% "
        "are expected to be so by chance\n",
        plural(comparison.tested, "row", "rows"), (1 - kConfidence) * 100);
  }
  if (any_one_process(comparison)) {
    text +=
        "one process: its samples do not show how processes differ, so they prove nothing; record with --rounds 10 or "
        "more, or ask for --within-process\n";
  }
  return text;
}

}  // namespace

std::string compare_text(const RunComparison& comparison, const SideNames& names, Detail detail, Colour colour) {
  std::string text;
  for (const ComparedRun& run : comparison.runs) text += run_text(run, names, detail, colour);
  for (const std::string& unmatched : comparison.unmatched) text += unmatched + "\n";
  return text + closing(comparison);
}

}  // namespace faultline::report
