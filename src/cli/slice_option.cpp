#include "cli/slice_option.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace faultline::cli {
namespace {

struct Interval {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

bool parse_number(std::string_view text, std::uint64_t& value) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value, hex ? 16 : 10);
  return !text.empty() && error == std::errc{} && end == text.end();
}

/// "A-B", or "A" alone.
std::optional<Interval> parse_interval(std::string_view text) {
  Interval interval;
  const std::size_t dash = text.find('-');
  if (!parse_number(text.substr(0, dash), interval.first)) return std::nullopt;
  interval.last = interval.first;
  if (dash != std::string_view::npos && !parse_number(text.substr(dash + 1), interval.last)) return std::nullopt;
  return interval.first <= interval.last ? std::optional(interval) : std::nullopt;
}

/// False where the text is no choice.
bool add(exports::Choice& choice, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view kind = equals == std::string_view::npos ? "" : text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? text : text.substr(equals + 1);
  if (kind == "site") {
    choice.site = value;
    return !value.empty();
  }
  const auto interval = parse_interval(value);
  if (!interval) return false;
  if (kind.empty()) {
    choice.steps = {interval->first, interval->last};
    return equals == std::string_view::npos;
  }
  if (kind == "range") {
    choice.range = Range{Addr{interval->first}, Addr{interval->last}};
    return interval->first < interval->last;
  }
  choice.line = static_cast<std::uint32_t>(interval->first);
  return kind == "line" && interval->first == interval->last &&
         interval->last <= std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

std::expected<exports::Choice, std::string> parse_slice(const std::vector<std::string>& texts, std::size_t most) {
  exports::Choice choice;
  choice.most = most;
  for (const std::string& text : texts) {
    if (add(choice, text)) continue;
    return std::unexpected(
        fmt::format("--slice {}: expected steps, such as 120-180, line=7, range=0x7000-0x9000 or site=TEXT", text));
  }
  return choice;
}

}  // namespace faultline::cli
