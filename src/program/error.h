#pragma once

#include <string>
#include <string_view>

#include "program/position.h"

namespace faultline::program {

/// Why a text is no program: where, what was found there and what was expected.
struct Error {
  std::string name;  // the program's name as given, usually a path
  Position position;
  std::string message;
  std::string source_line;  // the whole line of `position`, without its end
};

/// An error at a place of `text`; takes the source line from there.
Error error_at(std::string_view text, std::string_view name, Position position, std::string message);

/// For a terminal: "name:line:column: error: message", then the line, then a caret below the place. Of a long line only
/// the part around the place is shown; bytes that are no printable text are shown as '?'.
std::string render(const Error& error);

}  // namespace faultline::program
