#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace faultline::program {

/// Bytes of the UTF-8 character that `bytes` begins with (RFC 3629: shortest form, no surrogates, at most U+10FFFF);
/// 0 when it begins with none, an empty text included.
std::size_t utf8_length(std::string_view bytes);

/// True for the bytes below 0x20 and 0x7f.
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// The offset of the first byte that no text file holds: a control character other than tab and the ends of lines, or
/// what is not UTF-8. npos when there is none.
std::size_t find_non_text(std::string_view text);

/// The text as a message shows it: its first 40 bytes at most, with "…" where it goes on.
std::string excerpt(std::string_view text);

}  // namespace faultline::program
