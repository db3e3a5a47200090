#include "report/grid.h"

#include <algorithm>

#include "report/format.h"

namespace faultline::report {
namespace {

constexpr std::string_view kGap = "   ";

std::string_view escape(Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::heading:
      return "\033[1m";
    case Emphasis::failure:
      return "\033[31m";
    case Emphasis::aside:
      return "\033[2m";
    case Emphasis::none:
      break;
  }
  return "";
}

}  // namespace

std::string coloured(std::string_view text, Emphasis emphasis, Colour colour) {
  if (colour == Colour::off || emphasis == Emphasis::none) return std::string(text);
  return std::string(escape(emphasis)) + std::string(text) + "\033[0m";
}

void Grid::add(std::vector<std::string> cells, Emphasis emphasis) {
  cells.resize(columns_.size());
  lines_.push_back({std::move(cells), emphasis});
}

std::vector<std::size_t> Grid::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const Line& line : lines_) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width(line.cells[i]));
  }
  return widths;
}

std::string Grid::text(Colour colour) const {
  const std::vector<std::size_t> columns = widths();
  std::string out;
  std::string current;
  for (const Line& line : lines_) {
    current.clear();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string blanks(columns[i] - width(line.cells[i]), ' ');
      if (i > 0) current += kGap;
      if (columns_[i] == Align::right) current += blanks;
      current += line.cells[i];
      if (columns_[i] == Align::left) current += blanks;
    }
    current.erase(current.find_last_not_of(' ') + 1);
    out += coloured(current, line.emphasis, colour);
    out += '\n';
  }
  return out;
}

}  // namespace faultline::report
