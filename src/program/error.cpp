#include "program/error.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "program/utf8.h"

namespace faultline::program {
namespace {

constexpr std::size_t kContext = 100;  // bytes of the line shown on each side of the place

std::string_view line_of(std::string_view text, std::uint32_t line) {
  for (std::uint32_t current = 1; current < line; ++current) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

/// Appends printable text for `bytes`; returns how many characters wide it is.
std::size_t append_printable(std::string& out, std::string_view bytes) {
  std::size_t width = 0;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) {
      out += '?';
    } else if (bytes.front() == '\t') {
      out += ' ';  // one column, so that the caret stands right whatever the terminal's tab stops
    } else if (length == 1 && is_control(bytes.front())) {
      out += '?';
    } else {
      out += bytes.substr(0, length);
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
    ++width;
  }
  return width;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

Error error_at(std::string_view text, std::string_view name, Position position, std::string message) {
  return {std::string(name), position, std::move(message), std::string(line_of(text, position.line))};
}

std::string render(const Error& error) {
  const std::string number = std::to_string(error.position.line);
  const std::string_view line = error.source_line;
  const std::size_t place = std::min<std::size_t>(std::max(error.position.column, 1U) - 1, line.size());
  std::size_t first = place > kContext ? place - kContext : 0;
  while (first > 0 && continues_character(line[first])) --first;
  std::size_t last = std::min(line.size(), place + kContext);
  while (last < line.size() && continues_character(line[last])) ++last;

  std::string text = error.name + ":" + number + ":" + std::to_string(error.position.column) + ": error: ";
  text += error.message + "\n " + number + " | ";
  std::size_t width = 0;
  if (first > 0) {
    text += "…";
    width = 1;
  }
  width += append_printable(text, line.substr(first, place - first));
  append_printable(text, line.substr(place, last - place));
  if (last < line.size()) text += "…";
  text += "\n " + std::string(number.size(), ' ') + " | " + std::string(width, ' ') + "^\n";
  return text;
}

}  // namespace faultline::program
