#include "program/lexer.h"

#include <optional>
#include <utility>

#include "program/character.h"
#include "program/number.h"
#include "program/utf8.h"

namespace faultline::program {
namespace {

struct Sign {
  TokenKind kind = TokenKind::bad;
  std::size_t length = 0;
};

/// The operator or bracket that `rest` begins with, the longest that fits; `bad` when there is none.
Sign sign_at(std::string_view rest) {
  const char second = rest.size() > 1 ? rest[1] : '\0';
  const auto either = [second](char continued, TokenKind two, TokenKind one) {
    return second == continued ? Sign{two, 2} : Sign{one, 1};
  };
  switch (rest.front()) {
    case '(':
      return {TokenKind::left_paren, 1};
    case ')':
      return {TokenKind::right_paren, 1};
    case '{':
      return {TokenKind::left_brace, 1};
    case '}':
      return {TokenKind::right_brace, 1};
    case ',':
      return {TokenKind::comma, 1};
    case ';':
      return {TokenKind::semicolon, 1};
    case '.':
      return second == '.' ? Sign{TokenKind::dots, 2} : Sign{};
    case '=':
      return either('=', TokenKind::equal, TokenKind::assign);
    case '!':
      return either('=', TokenKind::not_equal, TokenKind::exclamation);
    case '<':
      return second == '<' ? Sign{TokenKind::shift_left, 2} : either('=', TokenKind::less_equal, TokenKind::less);
    case '>':
      return second == '>' ? Sign{TokenKind::shift_right, 2}
                           : either('=', TokenKind::greater_equal, TokenKind::greater);
    case '&':
      return either('&', TokenKind::and_and, TokenKind::ampersand);
    case '|':
      return either('|', TokenKind::or_or, TokenKind::bar);
    case '+':
      return {TokenKind::plus, 1};
    case '-':
      return {TokenKind::minus, 1};
    case '*':
      return {TokenKind::star, 1};
    case '/':
      return {TokenKind::slash, 1};
    case '%':
      return {TokenKind::percent, 1};
    case '^':
      return {TokenKind::caret, 1};
    case '~':
      return {TokenKind::tilde, 1};
    default:
      return {};
  }
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The byte that an escape stands for and the characters it takes after the backslash; nothing if it is none.
std::optional<std::pair<char, std::size_t>> escape(std::string_view after) {
  if (after.empty()) return std::nullopt;
  switch (after.front()) {
    case '"':
    case '\\':
      return {{after.front(), 1}};
    case 'n':
      return {{'\n', 1}};
    case 't':
      return {{'\t', 1}};
    case 'r':
      return {{'\r', 1}};
    case 'x': {
      if (after.size() < 3 || hex_digit(after[1]) < 0 || hex_digit(after[2]) < 0) return std::nullopt;
      const int byte = hex_digit(after[1]) * 16 + hex_digit(after[2]);
      if (byte == 0) return std::nullopt;  // a string ends there when it reaches the kernel
      return {{static_cast<char>(byte), 3}};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text_.starts_with(kByteOrderMark)) offset_ = kByteOrderMark.size();
}

Position Lexer::position() const { return {line_, static_cast<std::uint32_t>(offset_ - line_start_ + 1)}; }

void Lexer::skip_blanks() {
  while (!at_end() && is_blank(text_[offset_])) ++offset_;
}

void Lexer::skip_comment() {
  if (at_end() || text_[offset_] != '#') return;
  const std::size_t end = text_.find('\n', offset_);
  offset_ = end == std::string_view::npos ? text_.size() : end;
}

void Lexer::begin_line() {
  line_start_ = ++offset_;
  ++line_;
}

Token Lexer::next() {
  Token token;
  // The end of a line or of the text is reported right behind the token before it, not behind the comment.
  const std::size_t last_end = offset_;
  const Position last_position = position();
  while (true) {
    skip_blanks();
    skip_comment();
    if (at_end() || text_[offset_] != '\n') break;
    if (open_parens_ == 0) {
      begin_line();
      token.kind = TokenKind::end_of_line;
      token.position = last_position;
      token.offset = last_end;
      return token;
    }
    begin_line();
  }
  if (at_end()) {
    token.position = last_position;
    token.offset = last_end;
    return token;
  }
  token.position = position();
  token.offset = offset_;
  const char first = text_[offset_];
  if (is_name_start(first)) {
    lex_name(token);
  } else if (is_digit(first)) {
    lex_number(token);
  } else if (first == '"') {
    lex_string(token);
  } else {
    lex_sign(token);
  }
  token.text = text_.substr(token.offset, offset_ - token.offset);
  return token;
}

void Lexer::lex_name(Token& token) {
  token.kind = TokenKind::name;
  while (!at_end() && is_name_part(text_[offset_])) ++offset_;
}

void Lexer::lex_number(Token& token) {
  while (!at_end() && is_name_part(text_[offset_])) ++offset_;
  auto value = parse_number(text_.substr(token.offset, offset_ - token.offset));
  token.kind = value ? TokenKind::number : TokenKind::bad;
  if (value) {
    token.number = *value;
  } else {
    token.decoded = std::move(value.error());
  }
}

void Lexer::lex_string(Token& token) {
  token.kind = TokenKind::string;
  ++offset_;
  while (!at_end() && text_[offset_] != '"' && text_[offset_] != '\n') {
    if (text_[offset_] != '\\') {
      token.decoded += text_[offset_++];
      continue;
    }
    const auto meant = escape(text_.substr(offset_ + 1));
    if (!meant) {
      token.kind = TokenKind::bad;
      token.position = position();
      token.decoded =
          R"(unknown escape in a string: expected \" \\ \n \t \r or \x and two hexadecimal digits, not \x00)";
      return;
    }
    token.decoded += meant->first;
    offset_ += 1 + meant->second;
  }
  if (at_end() || text_[offset_] != '"') {
    token.kind = TokenKind::bad;
    token.decoded = "this string is never closed: expected '\"' before the end of the line";
    return;
  }
  ++offset_;
}

void Lexer::lex_sign(Token& token) {
  const std::string_view rest = text_.substr(offset_);
  const Sign sign = sign_at(rest);
  if (sign.kind != TokenKind::bad) {
    token.kind = sign.kind;
    offset_ += sign.length;
    if (sign.kind == TokenKind::left_paren) ++open_parens_;
    if (sign.kind == TokenKind::right_paren && open_parens_ > 0) --open_parens_;
    return;
  }
  const std::size_t length = utf8_length(rest);
  token.kind = TokenKind::bad;
  token.decoded = "unexpected character '" + std::string(rest.substr(0, length)) + "'";
  offset_ += length;
}

Token Lexer::word() {
  skip_blanks();
  Token token;
  token.kind = TokenKind::word;
  token.position = position();
  token.offset = offset_;
  constexpr std::string_view kEnds = ",;{}#\n";
  while (!at_end() && !is_blank(text_[offset_]) && kEnds.find(text_[offset_]) == std::string_view::npos) ++offset_;
  token.text = text_.substr(token.offset, offset_ - token.offset);
  return token;
}

Lexer::Note Lexer::skip_note() {
  std::size_t start = offset_;
  while (start < text_.size() && is_blank(text_[start])) ++start;
  if (start >= text_.size() || text_[start] != '(') return Note::absent;
  const std::size_t end = text_.find_first_of(")\n", start);
  if (end == std::string_view::npos || text_[end] == '\n') return Note::unclosed;
  offset_ = end + 1;
  return Note::skipped;
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::end_of_file:
      return "the end of the file";
    case TokenKind::end_of_line:
      return "the end of the line";
    case TokenKind::number:
      return "the number " + std::string(token.text);
    case TokenKind::string:
      return "a string";
    default:
      break;
  }
  return "'" + excerpt(token.text) + "'";
}

}  // namespace faultline::program
