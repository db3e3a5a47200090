#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "program/position.h"

namespace faultline::program {

enum class TokenKind : std::uint8_t {
  end_of_file,
  end_of_line,
  name,
  number,
  string,
  word,  // a machine pattern; only Lexer::word() makes it
  bad,   // no token: Token::decoded says why
  left_paren,
  right_paren,
  left_brace,
  right_brace,
  comma,
  semicolon,
  dots,  // ..
  assign,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  shift_left,
  shift_right,
  plus,
  minus,
  star,
  slash,
  percent,
  ampersand,
  bar,
  caret,
  tilde,
  exclamation,
  and_and,
  or_or,
};

/// A piece of a program's text.
struct Token {
  TokenKind kind = TokenKind::end_of_file;
  Position position;
  std::size_t offset = 0;  // in the text, in bytes
  std::string_view text;   // as written
  std::uint64_t number = 0;
  std::string decoded;  // what a string stands for, or why a `bad` token is none
};

/// What an error message calls it: "end of line", "'mprotect'", "the number 12".
std::string describe(const Token& token);

}  // namespace faultline::program
