#pragma once

#include <cstddef>
#include <string_view>

#include "holds.h"
#include "program/error.h"

namespace faultline::fuzz {

/// An error names a place that the text has, and can be shown.
inline void holds_in(std::string_view text, const program::Error& error) {
  holds(!error.message.empty(), "an error says what is wrong");
  holds(error.position.line >= 1 && error.position.column >= 1, "lines and columns count from 1", error.message);
  for (std::size_t line = 1; line < error.position.line; ++line) {
    const std::size_t end = text.find('\n');
    holds(end != std::string_view::npos, "an error's line is in the text", error.message);
    text.remove_prefix(end + 1);
  }
  const std::string_view line = text.substr(0, text.find('\n'));
  holds(error.position.column <= line.size() + 1, "an error's column is in its line", error.message);
  holds(line.starts_with(error.source_line), "an error shows its line", error.message);
  holds(!render(error).empty(), "an error can be shown");
}

}  // namespace faultline::fuzz
