#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"

namespace faultline::report {
namespace {

struct ForReaders {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(std::uint64_t value) const { return value == 0 ? "" : thousands(value); }
  std::string operator()(const std::string& text) const { return printable(text, kWidest); }
  static constexpr std::size_t kWidest = 120;  // paths come from recordings, and may hold anything
};

struct ForCsv {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(const std::string& text) const {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
  }
};

struct ForJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(std::uint64_t value) const { return value; }
  Json operator()(const std::string& text) const { return text; }
};

/// The cells of those columns that are shown.
template <class Shown, class Cell>
std::vector<std::string> line(const Table& table, Shown shown, Cell cell) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (shown(table.columns[i])) cells.push_back(cell(i));
  }
  return cells;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + cells[i];
  return text + "\n";
}

bool for_readers(const Column& column) { return !column.heading.empty(); }
bool for_data(const Column& column) { return !column.key.empty(); }

}  // namespace

std::string table_text(const Table& table, std::size_t most, Colour colour) {
  if (table.rows.empty()) return {};
  std::vector<Align> aligned;
  for (const Column& column : table.columns) {
    if (for_readers(column)) aligned.push_back(column.align);
  }
  Grid grid(aligned);
  grid.set_heading(line(table, for_readers, [&](std::size_t i) { return table.columns[i].heading; }));
  const std::size_t shown = std::min(most, table.rows.size());
  for (std::size_t row = 0; row < shown; ++row) {
    grid.add(line(table, for_readers, [&](std::size_t i) { return std::visit(ForReaders(), table.rows[row][i]); }));
  }
  std::string text = grid.text(colour);
  if (shown < table.rows.size()) text += fmt::format("  … and {} more\n", thousands(table.rows.size() - shown));
  return text;
}

std::string table_csv(const Table& table) {
  std::string text = csv_line(line(table, for_data, [&](std::size_t i) { return table.columns[i].key; }));
  for (const auto& row : table.rows) {
    text += csv_line(line(table, for_data, [&](std::size_t i) { return std::visit(ForCsv(), row[i]); }));
  }
  return text;
}

Json table_json(const Table& table) {
  Json json = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (for_data(table.columns[i])) object[table.columns[i].key] = std::visit(ForJson(), row[i]);
    }
    json.push_back(std::move(object));
  }
  return json;
}

}  // namespace faultline::report
