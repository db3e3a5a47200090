#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/style.h"

namespace faultline::report {

enum class Align : std::uint8_t { left, right };

/// `text` in the colour of its emphasis, or as it is when colour is off.
std::string coloured(std::string_view text, Emphasis emphasis, Colour colour);

/// Rows of cells under each other. Columns are as wide as their widest cell; lines end without blanks.
class Grid {
 public:
  explicit Grid(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// `cells` may be fewer than the columns; the rest stays empty.
  void add(std::vector<std::string> cells, Emphasis emphasis = Emphasis::none);

  /// The first line, of whatever is known last.
  void set_heading(std::vector<std::string> cells);

  /// The lines, each with its newline.
  std::string text(Colour colour) const;

 private:
  struct Line {
    std::vector<std::string> cells;
    Emphasis emphasis;
  };
  std::vector<std::size_t> widths() const;
  void print(const Line& line, const std::vector<std::size_t>& widths, Colour colour, std::string& out) const;

  std::vector<Align> columns_;
  Line heading_{{}, Emphasis::heading};  // no cells: none
  std::vector<Line> lines_;
};

}  // namespace faultline::report
