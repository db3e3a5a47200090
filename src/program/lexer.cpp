#include "program/lexer.h"

#include <array>
#include <optional>
#include <utility>

#include "program/number.h"
#include "program/utf8.h"

namespace faultline::program {
namespace {

struct Sign {
  std::string_view text;
  TokenKind kind;
};
// The longer ones first, so that `<<` is not two `<`.
constexpr auto kSigns = std::to_array<Sign>({
    {"..", TokenKind::dots},        {"==", TokenKind::equal},         {"!=", TokenKind::not_equal},
    {"<=", TokenKind::less_equal},  {">=", TokenKind::greater_equal}, {"<<", TokenKind::shift_left},
    {">>", TokenKind::shift_right}, {"&&", TokenKind::and_and},       {"||", TokenKind::or_or},
    {"(", TokenKind::left_paren},   {")", TokenKind::right_paren},    {"{", TokenKind::left_brace},
    {"}", TokenKind::right_brace},  {",", TokenKind::comma},          {";", TokenKind::semicolon},
    {"=", TokenKind::assign},       {"<", TokenKind::less},           {">", TokenKind::greater},
    {"+", TokenKind::plus},         {"-", TokenKind::minus},          {"*", TokenKind::star},
    {"/", TokenKind::slash},        {"%", TokenKind::percent},        {"&", TokenKind::ampersand},
    {"|", TokenKind::bar},          {"^", TokenKind::caret},          {"~", TokenKind::tilde},
    {"!", TokenKind::exclamation},
});

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
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
  for (const Sign& sign : kSigns) {
    if (!rest.starts_with(sign.text)) continue;
    token.kind = sign.kind;
    offset_ += sign.text.size();
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
  constexpr std::size_t kLongest = 40;
  return "'" + std::string(token.text.substr(0, kLongest)) + (token.text.size() > kLongest ? "…'" : "'");
}

}  // namespace faultline::program
