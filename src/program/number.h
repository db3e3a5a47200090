#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace faultline::program {

/// The value of an unsigned number as programs and `--set` write it: decimal, hexadecimal with 0x, octal with a leading
/// 0 (as strace(1) prints file modes), each with an optional suffix K, M, G or T for a power of 1024.
/// The error says what was expected.
std::expected<std::uint64_t, std::string> parse_number(std::string_view text);

}  // namespace faultline::program
