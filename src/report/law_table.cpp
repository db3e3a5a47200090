#include "report/law_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "report/format.h"
#include "report/grid.h"
#include "stats/least_squares.h"
#include "stats/summary.h"

namespace faultline::report {
namespace {

/// One operation on one machine, over the sweep.
struct Observations {
  std::vector<double> pages;
  std::vector<double> vmas;
  std::vector<double> figures;
  run::Metric metric = run::Metric::none;

  void add(const run::Row& row) {
    const auto figure = stats::median(row.samples);
    if (!figure || row.metric == run::Metric::none) return;
    const auto larger = [](const auto& before, const auto& after) {
      return static_cast<double>(std::max(before.value_or(0), after.value_or(0)));
    };
    pages.push_back(larger(row.before.present, row.after.present));
    vmas.push_back(larger(row.before.vmas, row.after.vmas));
    figures.push_back(*figure);
    metric = row.metric;
  }
};

bool varies(const std::vector<double>& values) {
  return std::ranges::adjacent_find(values, std::ranges::not_equal_to{}) != values.end();
}

std::string coefficient_text(double value) { return decimal(value, std::abs(value) < 1000 ? 1 : 0); }

std::string term(const stats::Term& term, run::Metric metric) {
  std::string text = coefficient_text(term.coefficient);
  if (metric == run::Metric::nanoseconds) text += fmt::format(" ±{}", coefficient_text(term.half_width));
  return text;
}

/// "3,102 + 151.2·pages, residual ≤ 4", with a "~" where the figures are predicted; nothing where there is nothing to
/// fit.
std::optional<std::string> law(const Observations& seen) {
  std::vector<std::vector<double>> columns{std::vector<double>(seen.figures.size(), 1.0)};
  std::vector<std::string_view> names;
  for (const auto& [values, name] : {std::pair(&seen.pages, "pages"), std::pair(&seen.vmas, "VMAs")}) {
    if (!varies(*values)) continue;
    columns.push_back(*values);
    names.emplace_back(name);
  }
  if (names.empty()) return std::nullopt;
  auto fit = stats::least_squares(columns, seen.figures);
  if (!fit && names.size() == 2) {
    // Pages and VMAs grow together: what is left can only be told of the VMAs with their pages.
    columns.erase(columns.begin() + 1);
    names = {"VMAs (with their pages)"};
    fit = stats::least_squares(columns, seen.figures);
  }
  if (!fit) return std::nullopt;
  std::string text = (seen.metric == run::Metric::predicted ? "~" : "") + term(fit->terms[0], seen.metric);
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format(" + {}·{}", term(fit->terms[i + 1], seen.metric), names[i]);
  }
  return fmt::format("{}  (residual ≤ {})", text, coefficient_text(fit->largest_residual));
}

}  // namespace

std::string law_table(std::span<const Comparison> comparisons, Colour colour) {
  if (comparisons.empty()) return {};
  const std::vector<AlignedRow> first = align(comparisons.front());
  const std::size_t machines = comparisons.front().reports.size();
  std::vector<std::vector<Observations>> seen(first.size(), std::vector<Observations>(machines));
  for (const Comparison& comparison : comparisons) {
    const std::vector<AlignedRow> rows = align(comparison);
    for (std::size_t i = 0; i < std::min(rows.size(), first.size()); ++i) {
      for (std::size_t machine = 0; machine < std::min(machines, rows[i].cells.size()); ++machine) {
        if (rows[i].cells[machine] != nullptr) seen[i][machine].add(*rows[i].cells[machine]);
      }
    }
  }
  Grid grid({Align::right, Align::left, Align::left, Align::left});
  grid.set_heading({"line", "operation", "machine", "cost per call"});
  bool any = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    bool named = false;
    for (std::size_t machine = 0; machine < machines; ++machine) {
      const auto text = law(seen[i][machine]);
      if (!text || first[i].any().kind != run::RowKind::operation) continue;
      grid.add({named ? "" : std::to_string(first[i].any().line), named ? "" : printable(first[i].any().text, 44),
                comparisons.front().reports[machine].machine, *text});
      named = any = true;
    }
  }
  if (!any) {
    return "No law: expected a sweep with --set over at least three shapes, on machines that have figures (vm, live)\n";
  }
  const std::string title =
      fmt::format("{}: cost = fixed + a·pages + b·VMAs, over {}", printable(comparisons.front().program, 100),
                  plural(comparisons.size(), "run", "runs"));
  return coloured(title, Emphasis::heading, colour) + "\n\n" + grid.text(colour);
}

}  // namespace faultline::report
