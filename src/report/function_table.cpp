#include "report/function_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "report/format.h"
#include "report/grid.h"

namespace faultline::report {
namespace {

/// What lies below this part of the largest total stands together.
constexpr double kSmallest = 0.001;

/// A function's own instructions per call on each machine; nothing where a machine has none of that name.
struct Line {
  std::string function;
  std::vector<std::optional<double>> self;
  std::vector<double> inclusive;

  double difference() const { return self.back().value_or(0) - self.front().value_or(0); }
  double largest() const {
    double largest = 0;
    for (const auto& count : self) largest = std::max(largest, count.value_or(0));
    return largest;
  }
};

std::vector<Line> lines_of(const AlignedRow& row) {
  std::vector<Line> lines;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t machine = 0; machine < row.cells.size(); ++machine) {
    const run::Row* cell = row.cells[machine];
    if (cell == nullptr || cell->samples.empty()) continue;
    const auto calls = static_cast<double>(cell->samples.size());
    for (const FunctionCount& function : functions_of(*cell)) {
      const auto [place, fresh] = places.try_emplace(function.function, lines.size());
      if (fresh) {
        lines.push_back({function.function, std::vector<std::optional<double>>(row.cells.size()),
                         std::vector<double>(row.cells.size())});
      }
      lines[place->second].self[machine] = static_cast<double>(function.self) / calls;
      lines[place->second].inclusive[machine] = static_cast<double>(function.inclusive) / calls;
    }
  }
  return lines;
}

/// The sum of several lines.
Line together(std::span<const Line> lines, std::string name, std::size_t machines) {
  Line sum{std::move(name), std::vector<std::optional<double>>(machines, 0.0), std::vector<double>(machines)};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < machines; ++i) *sum.self[i] += line.self[i].value_or(0);
  }
  return sum;
}

// Whole where all calls were alike.
std::string number(double value) { return decimal(value, std::abs(value - std::round(value)) < 1e-6 ? 0 : 2); }

std::string signed_number(double value) { return value > 0 ? "+" + number(value) : number(value); }

enum class Inclusive : std::uint8_t { shown, hidden };

std::vector<std::string> cells(const Line& line, Inclusive inclusive) {
  std::vector<std::string> texts{line.function};
  for (const auto& count : line.self) texts.push_back(count ? number(*count) : "–");
  if (line.self.size() == 2) texts.push_back(signed_number(line.difference()));
  if (line.self.size() == 1) texts.push_back(inclusive == Inclusive::shown ? number(line.inclusive.front()) : "");
  return texts;
}

std::string table(const Comparison& comparison, const AlignedRow& row, Colour colour) {
  const std::size_t machines = row.cells.size();
  std::vector<Line> lines = lines_of(row);
  const Line total = together(lines, "total", machines);
  const bool two = machines == 2;
  const auto weight = [&](const Line& line) { return two ? std::abs(line.difference()) : line.largest(); };
  std::ranges::stable_sort(lines, [&](const Line& a, const Line& b) {
    return std::pair(weight(a), a.largest()) > std::pair(weight(b), b.largest());
  });
  const auto shown = std::ranges::stable_partition(
      lines, [&](const Line& line) { return line.largest() >= kSmallest * total.largest(); });
  std::vector<Align> columns(machines + 2, Align::right);
  columns.front() = Align::left;
  Grid grid(std::move(columns));
  std::vector<std::string> heading{"function"};
  for (const run::Report& report : comparison.reports) heading.push_back(report.machine);
  if (two) heading.emplace_back("difference");
  if (machines == 1) heading.emplace_back("with callees");
  grid.set_heading(std::move(heading));
  for (auto line = lines.begin(); line != shown.begin(); ++line) grid.add(cells(*line, Inclusive::shown));
  if (!shown.empty()) {
    grid.add(cells(together(std::span(shown.begin(), shown.end()),
                            plural(shown.size(), "smaller function", "smaller functions"), machines),
                   Inclusive::hidden));
  }
  grid.add(cells(total, Inclusive::hidden), Emphasis::heading);
  return grid.text(colour);
}

}  // namespace

std::string function_table(const Comparison& comparison, std::optional<std::uint32_t> line, Colour colour) {
  std::string text;
  for (const AlignedRow& row : align(comparison)) {
    const run::Row& any = row.any();
    if (any.kind != run::RowKind::operation || (line && any.line != *line)) continue;
    const bool attributed =
        std::ranges::any_of(row.cells, [](const run::Row* cell) { return cell != nullptr && !cell->paths.empty(); });
    if (!attributed) continue;
    const std::string title =
        fmt::format("line {}: {}, instructions per call by function", any.line, printable(any.text, 60));
    text += "\n" + coloured(title, Emphasis::heading, colour) + "\n";
    if (!row.comparable()) text += "not comparable: " + row.refusal + "\n";
    text += table(comparison, row, colour);
  }
  return text;
}

}  // namespace faultline::report
