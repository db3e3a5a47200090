#include "program/number.h"

#include <charconv>
#include <limits>

#include "program/utf8.h"

namespace faultline::program {
namespace {

/// How far a suffix shifts its number; 0 when it is none.
unsigned suffix_shift(char suffix) {
  switch (suffix) {
    case 'K':
      return 10;
    case 'M':
      return 20;
    case 'G':
      return 30;
    case 'T':
      return 40;
    default:
      return 0;
  }
}

std::string shown(std::string_view text) { return "'" + excerpt(text) + "'"; }

}  // namespace

std::expected<std::uint64_t, std::string> parse_number(std::string_view text) {
  const auto refuse = [&](std::string_view expected) {
    return std::unexpected(shown(text) + " is not a number: expected " + std::string(expected));
  };
  std::string_view digits = text;
  int base = 10;
  std::string_view expected = "decimal digits, or digits and one of the suffixes K, M, G, T";
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
    expected = "hexadecimal digits after 0x";
  } else if (digits.size() > 1 && digits.front() == '0' && suffix_shift(digits[1]) == 0) {
    base = 8;
    digits.remove_prefix(1);
    expected = "octal digits after the leading 0";
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error == std::errc::invalid_argument) return refuse(expected);
  const std::string_view rest = digits.substr(static_cast<std::size_t>(end - digits.data()));
  const unsigned shift = rest.size() == 1 ? suffix_shift(rest.front()) : 0;
  if (!rest.empty() && shift == 0) return refuse(expected);
  if (error == std::errc::result_out_of_range || value > std::numeric_limits<std::uint64_t>::max() >> shift) {
    return std::unexpected("the number " + shown(text) + " is too large: expected at most 2^64-1, 0xffffffffffffffff");
  }
  return value << shift;
}

}  // namespace faultline::program
