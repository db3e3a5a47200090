#pragma once

/// Characters by kind, in ASCII: the language and what strace writes know no others outside of strings.
namespace faultline::program {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// May a name begin with it?
constexpr bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
/// May a name go on with it?
constexpr bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

}  // namespace faultline::program
