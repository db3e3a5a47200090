#include "report/mail.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/change_column.h"
#include "report/format.h"

namespace faultline::report {
namespace {

constexpr std::size_t kColumns = 75;
constexpr std::size_t kNarrowestOperation = 28;

/// In ASCII: tables elsewhere have a true minus, a dash for what is not known, and "±".
std::string ascii(std::string_view text) {
  struct Spelling {
    std::string_view utf8;
    std::string_view plain;
  };
  constexpr Spelling kSpellings[] = {{"–", "-"}, {"−", "-"}, {"±", "+-"}, {"…", "..."}, {"×", "x"}, {"·", "-"}};
  std::string result;
  while (!text.empty()) {
    const auto* spelling =
        std::ranges::find_if(kSpellings, [&](const Spelling& s) { return text.starts_with(s.utf8); });
    if (spelling != std::end(kSpellings)) {
      result += spelling->plain;
      text.remove_prefix(spelling->utf8.size());
      continue;
    }
    result += static_cast<unsigned char>(text.front()) < 0x80 ? text.front() : '?';
    text.remove_prefix(1);
  }
  return result;
}

struct MailLine {
  std::string operation;
  std::vector<std::string> cells;  // one per machine, then the change
};

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

/// Words after each other, in lines that begin with the heading or blanks of its width.
std::string wrapped(std::string_view heading, std::string_view text) {
  std::string result;
  std::string line(heading);
  bool empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!empty && line.size() + 1 + word.size() > kColumns) {
      result += line + "\n";
      line.assign(heading.size(), ' ');
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return result + line + "\n";
}

bool measures(const std::vector<AlignedRow>& rows) {
  return std::ranges::any_of(rows, [](const AlignedRow& row) { return row.any().kind == run::RowKind::measure; });
}

std::string title(const run::Row& row) {
  if (row.kind == run::RowKind::operation) return ascii(printable(row.text, 60));
  return row.calls > 1 ? fmt::format("{}, each of {}", ascii(printable(row.text, 40)), thousands(row.calls))
                       : ascii(printable(row.text, 60));
}

std::vector<MailLine> lines_of(const std::vector<AlignedRow>& rows, const ChangeColumn& changes, Counted counted) {
  const bool only_measured = measures(rows);
  std::vector<MailLine> lines;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const AlignedRow& row = rows[i];
    if (only_measured && row.any().kind == run::RowKind::operation && row.any().measure.empty()) continue;
    MailLine line{title(row.any()), {}};
    for (const run::Row* cell : row.cells) line.cells.push_back(ascii(figure(cell)));
    line.cells.push_back(ascii(changes.cells[i]));
    lines.push_back(std::move(line));
    for (const Counter counter : shown_counters(row, counted)) {
      MailLine counts{"  " + std::string(counter_title(counter)), {}};
      for (const run::Row* cell : row.cells) counts.cells.push_back(ascii(count(cell, counter)));
      counts.cells.emplace_back();
      lines.push_back(std::move(counts));
    }
  }
  return lines;
}

/// The columns from `first` to before `last`.
std::string table(const std::vector<std::string>& heading, const std::vector<MailLine>& lines, std::size_t first,
                  std::size_t last, const std::vector<std::size_t>& widths) {
  std::size_t right = 0;
  for (std::size_t i = first; i < last; ++i) right += 2 + widths[i];
  std::size_t left = 0;
  for (const MailLine& line : lines) left = std::max(left, line.operation.size());
  left = std::min(left, kColumns - right);
  const auto print = [&](const std::string& operation, const std::vector<std::string>& cells) {
    std::string text = fmt::format("{:<{}}", shortened(operation, left), left);
    for (std::size_t i = first; i < last; ++i) text += fmt::format("  {:>{}}", cells[i], widths[i]);
    while (text.ends_with(' ')) text.pop_back();
    return text + "\n";
  };
  std::string text = print("", heading);
  for (const MailLine& line : lines) text += print(line.operation, line.cells);
  return text;
}

std::string tables(std::vector<std::string> heading, const std::vector<MailLine>& lines) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < heading.size(); ++i) {
    std::size_t width = heading[i].size();
    for (const MailLine& line : lines) width = std::max(width, line.cells[i].size());
    widths.push_back(std::min(width, kColumns - kNarrowestOperation - 2));
    heading[i] = shortened(heading[i], std::max<std::size_t>(widths.back(), 3));
  }
  std::string text;
  for (std::size_t first = 0; first < heading.size();) {
    std::size_t right = 2 + widths[first];
    std::size_t last = first + 1;
    while (last < heading.size() && right + 2 + widths[last] <= kColumns - kNarrowestOperation)
      right += 2 + widths[last++];
    text += (text.empty() ? "" : "\n") + table(heading, lines, first, last, widths);
    first = last;
  }
  return text;
}

std::string what_counts(const Comparison& comparison) {
  const auto has = [&](run::Metric metric) {
    return std::ranges::any_of(comparison.reports, [&](const run::Report& report) {
      return std::ranges::any_of(report.rows, [&](const run::Row& row) { return row.metric == metric; });
    });
  };
  std::string text;
  if (has(run::Metric::instructions)) {
    text +=
        "vm: instructions of the kernel per call, exact, counted under emulation (QEMU -icount), interrupts left out. ";
  }
  if (has(run::Metric::nanoseconds)) text += "live: median time per call, half of the samples within +-. ";
  if (has(run::Metric::predicted)) {
    text +=
        "model: ~instructions per call are predicted from what the model counts; +- is the worst error on programs "
        "that had no part in fitting. ";
  }
  if (has(run::Metric::none)) text += "model: counts per call, no times. ";
  return text;
}

}  // namespace

std::string mail_text(const Comparison& comparison, Counted counted, std::string_view command) {
  const std::vector<AlignedRow> rows = align(comparison);
  const ChangeColumn changes = change_column(rows);
  std::string text;
  if (!comparison.answers.empty()) text += wrapped("", ascii(printable(comparison.answers, 400))) + "\n";
  std::vector<std::string> heading;
  for (const run::Report& report : comparison.reports) heading.push_back(ascii(report.machine));
  if (!changes.empty()) heading.emplace_back("change");
  text += tables(std::move(heading), lines_of(rows, changes, counted));
  for (const AlignedRow& row : rows) {
    if (!row.comparable())
      text += wrapped("", fmt::format("line {} not comparable: {}", row.any().line, ascii(row.refusal)));
  }
  text += "\n";
  for (const run::Report& report : comparison.reports) {
    if (report.ending != run::Ending::completed)
      text += wrapped("", report.machine + " did not complete: " + ascii(report.detail));
    text += wrapped("", fmt::format("{}: {}", ascii(report.machine), ascii(report.kernel)));
  }
  text += wrapped("", what_counts(comparison));
  std::string params;
  for (const ParamValue& param : comparison.params) params += fmt::format("{}={} ", param.name, param.text);
  if (!params.empty()) text += wrapped("with ", params);
  return text + wrapped("$ ", ascii(command));
}

}  // namespace faultline::report
