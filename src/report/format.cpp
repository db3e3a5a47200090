#include "report/format.h"

#include <fmt/format.h>

#include <cmath>

namespace faultline::report {
namespace {

constexpr std::string_view kMinus = "\u2212";

std::string with_commas(std::string digits) {
  for (std::size_t end = digits.size(); end > 3;) {
    end -= 3;
    digits.insert(end, ",");
  }
  return digits;
}

// The bytes of the character that begins with `lead`; 0 for a byte that begins none.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// The next character of `text`, or an empty view where its first byte is not the start of a whole one.
std::string_view next_character(std::string_view text) {
  const std::size_t length = sequence_length(static_cast<unsigned char>(text.front()));
  if (length == 0 || length > text.size()) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return {};
  }
  return text.substr(0, length);
}

bool is_control(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  // C0 and DEL, and the C1 controls U+0080–U+009F, which terminals obey too.
  return lead < 0x20 || lead == 0x7f || (lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

}  // namespace

std::string thousands(std::uint64_t value) { return with_commas(std::to_string(value)); }

std::string decimal(double value, int decimals) {
  std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool zero = digits.find_first_not_of("0.") == std::string::npos;
  const std::size_t point = digits.find('.');
  const std::string fraction = point == std::string::npos ? "" : digits.substr(point);
  const std::string whole = with_commas(digits.substr(0, point));
  return fmt::format("{}{}{}", value < 0 && !zero ? kMinus : "", whole, fraction);
}

std::string per_call(std::uint64_t total, std::uint64_t calls) {
  if (calls == 0) return "–";
  if (total % calls == 0) return thousands(total / calls);
  const double value = static_cast<double>(total) / static_cast<double>(calls);
  if (value < 0.005) return "<0.01";
  std::string text = decimal(value, 2);
  if (text.ends_with('0')) text.pop_back();
  // 31.999 is not 32: it keeps its decimals, so that a reader sees that calls differed.
  return text;
}

std::string percent_change(double ratio) {
  const double change = (ratio - 1) * 100;
  const std::string text = decimal(change, 1);
  if (text == "0.0") return "0.0%";
  return fmt::format("{}{}%", change > 0 ? "+" : "", text);
}

std::string percent(double fraction) {
  const double value = fraction * 100;
  return fmt::format("{}%", decimal(value, value < 0.95 ? 1 : 0));
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", thousands(count), count == 1 ? one : many);
}

std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  for (const char byte : text) columns += is_continuation(byte) ? 0 : 1;
  return columns;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string line;
  std::size_t columns = 0;
  std::size_t cut = 0;  // where the line ends when one column less is taken
  while (!text.empty()) {
    if (columns == most) return line.substr(0, cut) + "…";
    cut = columns + 1 == most ? line.size() : cut;
    const std::string_view character = next_character(text);
    if (character.empty() || is_control(character)) {
      line += '?';
    } else {
      line += character;
    }
    text.remove_prefix(character.empty() ? 1 : character.size());
    ++columns;
  }
  return line;
}

}  // namespace faultline::report
