#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "program/position.h"
#include "program/token.h"

namespace faultline::program {

/// Cuts a program's text into tokens, one at a time. Blanks and comments separate tokens and are none; the end of a
/// line is one, except inside parentheses. A copy is cheap and looks ahead.
class Lexer {
 public:
  /// `text` must outlive the lexer and its tokens, and hold no byte that find_non_text() finds.
  explicit Lexer(std::string_view text);

  Token next();

  /// The characters up to a blank, a comma, a semicolon, a brace or a comment, as one token, empty if there are none.
  Token word();

  enum class Note : std::uint8_t { absent, skipped, unclosed };
  /// Steps over text in parentheses that follows on this line: strace's "(Cannot allocate memory)".
  Note skip_note();

  Position position() const;
  std::size_t offset() const { return offset_; }

 private:
  bool at_end() const { return offset_ >= text_.size(); }
  void skip_blanks();
  void skip_comment();
  void begin_line();
  void lex_name(Token& token);
  void lex_number(Token& token);
  void lex_string(Token& token);
  void lex_sign(Token& token);

  std::string_view text_;
  std::size_t offset_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t open_parens_ = 0;
};

}  // namespace faultline::program
