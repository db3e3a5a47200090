#include "program/utf8.h"

#include <algorithm>
#include <cstdint>

namespace faultline::program {

std::size_t utf8_length(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const auto byte = [&](std::size_t i) -> std::uint32_t { return static_cast<unsigned char>(bytes[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  std::uint32_t code = 0;
  std::uint32_t least = 0;  // the smallest code that needs this length
  if ((lead & 0xE0U) == 0xC0U) {
    length = 2, code = lead & 0x1FU, least = 0x80;
  } else if ((lead & 0xF0U) == 0xE0U) {
    length = 3, code = lead & 0x0FU, least = 0x800;
  } else if ((lead & 0xF8U) == 0xF0U) {
    length = 4, code = lead & 0x07U, least = 0x10000;
  } else {
    return 0;
  }
  if (bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least || code > 0x10FFFF || surrogate ? 0 : length;
}

std::size_t find_non_text(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (is_control(c) && c != '\t' && c != '\n' && c != '\r') return i;
    const std::size_t length = static_cast<unsigned char>(c) < 0x80 ? 1 : utf8_length(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  if (text.size() <= kLongest) return std::string(text);
  std::size_t length = 0;
  while (true) {
    const std::size_t character = std::max<std::size_t>(utf8_length(text.substr(length)), 1);
    if (length + character > kLongest) return std::string(text.substr(0, length)) + "…";
    length += character;
  }
}

}  // namespace faultline::program
