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

void Grid::set_heading(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  heading_.cells = std::move(cells);
}

std::vector<std::size_t> Grid::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  const auto widen = [&](const Line& line) {
    for (std::size_t i = 0; i < line.cells.size(); ++i) widths[i] = std::max(widths[i], width(line.cells[i]));
  };
  widen(heading_);
  for (const Line& line : lines_) widen(line);
  return widths;
}

void Grid::print(const Line& line, const std::vector<std::size_t>& widths, Colour colour, std::string& out) const {
  std::string text;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::size_t blanks = widths[i] - width(line.cells[i]);
    if (i > 0) text += kGap;
    if (columns_[i] == Align::right) text.append(blanks, ' ');
    text += line.cells[i];
    if (columns_[i] == Align::left) text.append(blanks, ' ');
  }
  text.erase(text.find_last_not_of(' ') + 1);
  out += coloured(text, line.emphasis, colour);
  out += '\n';
}

std::string Grid::text(Colour colour) const {
  const std::vector<std::size_t> columns = widths();
  std::string out;
  if (!heading_.cells.empty()) print(heading_, columns, colour, out);
  for (const Line& line : lines_) print(line, columns, colour, out);
  return out;
}

}  // namespace faultline::report
