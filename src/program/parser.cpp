#include "program/parser.h"

#include <algorithm>
#include <utility>

#include "program/parse_state.h"
#include "program/print_expression.h"
#include "program/utf8.h"

namespace faultline::program {

Parser::Parser(std::string_view text, std::string name) : text_(text), lexer_(text) { program_.name = std::move(name); }

std::expected<Program, Error> Parser::run() {
  program_.answers = first_comment();
  // Lines bound the statements well enough; growing step by step would move each of them several times.
  program_.body.reserve(static_cast<std::size_t>(std::ranges::count(text_, '\n')) + 1);
  advance();
  statements(program_.body);
  if (at(TokenKind::right_brace)) fail(current_.position, "this '}' closes no block: expected a statement");
  if (!failed()) check_mentions();
  if (failed()) return std::unexpected(std::move(*error_));
  program_.slots = scopes_.take_slots();
  return std::move(program_);
}

void Parser::advance() {
  if (failed()) return;
  last_end_ = current_.offset + current_.text.size();
  current_ = lexer_.next();
  if (at(TokenKind::bad)) fail(current_.position, std::move(current_.decoded));
}

bool Parser::at_statement_end() const {
  return at(TokenKind::end_of_line) || at(TokenKind::semicolon) || at(TokenKind::right_brace) ||
         at(TokenKind::end_of_file);
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
  advance();
  return true;
}

bool Parser::accept_name(std::string_view word) {
  if (!at_name(word)) return false;
  advance();
  return true;
}

bool Parser::require(TokenKind kind, std::string_view expected) {
  if (accept(kind)) return true;
  fail_expected(expected);
  return false;
}

void Parser::fail(Position position, std::string message) {
  if (failed()) return;
  error_ = error_at(text_, program_.name, position, std::move(message));
  current_ = Token{};
}

void Parser::fail_expected(std::string_view expected) {
  fail(current_.position, "expected " + std::string(expected) + " but found " + describe(current_));
}

bool Parser::next_is_paren() const {
  Lexer ahead = lexer_;
  return ahead.next().kind == TokenKind::left_paren;
}

void Parser::check_mentions() {
  const auto check = [this](const std::vector<Mention>& mentions, const std::unordered_set<std::string>& blocks,
                            std::string_view what) {
    const auto lost = std::ranges::find_if(mentions, [&](const Mention& m) { return !blocks.contains(m.name); });
    if (lost == mentions.end()) return;
    Nearest nearest(lost->name);
    for (const std::string& name : blocks) nearest.offer(name);
    const std::string block = std::string(what) + " " + quote(excerpt(lost->name));
    fail(lost->position, "the program has no " + block + nearest.suggestion(": expected the name of such a block"));
  };
  check(measure_mentions_, measures_, "measure");
  check(child_mentions_, children_, "child");
}

std::string Parser::first_comment() const {
  std::string_view rest = text_;
  if (rest.starts_with("#!")) rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  constexpr std::string_view kBlanks = " \t\r\n";
  rest.remove_prefix(std::min(rest.find_first_not_of("\xEF\xBB\xBF \t\r\n"), rest.size()));
  if (!rest.starts_with('#')) return {};
  rest = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.find_first_not_of('#'), rest.size()));
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  rest = rest.substr(0, rest.find_last_not_of(kBlanks) + 1);
  return std::string(rest);
}

namespace {

/// The place of a byte, for a text that may not be one.
Position position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<std::uint32_t>(std::ranges::count(before, '\n') + 1),
          static_cast<std::uint32_t>(offset - line_start + 1)};
}

}  // namespace

std::expected<Program, Error> parse(std::string_view text, std::string name) {
  if (const std::size_t bad = find_non_text(text); bad != std::string_view::npos) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(text[bad]);
    std::string message = "this is no text: expected UTF-8 without control characters but found the byte 0x";
    message += {kHex[byte / 16U], kHex[byte % 16U]};
    return std::unexpected(error_at(text, name, position_of(text, bad), std::move(message)));
  }
  return Parser(text, std::move(name)).run();
}

}  // namespace faultline::program
