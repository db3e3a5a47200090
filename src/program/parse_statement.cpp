#include <array>
#include <utility>

#include "program/constants.h"
#include "program/machine_pattern.h"
#include "program/nearest.h"
#include "program/parse_state.h"
#include "program/printer.h"
#include "program/utf8.h"

namespace faultline::program {
namespace {

// The words that begin or divide a statement without a parenthesis: no variable may bear their names.
constexpr auto kReserved = std::to_array<std::string_view>(
    {"param", "let", "repeat", "for", "in", "measure", "child", "threads", "expect", "on", "at"});

bool is_reserved(std::string_view name) {
  for (const std::string_view word : kReserved) {
    if (word == name) return true;
  }
  return false;
}

constexpr std::string_view kAnyStatement =
    "a statement: a call such as mmap(…) or store(…), an assignment, or one of param, let, repeat, for, measure, "
    "child, threads, expect";

}  // namespace

/// Up to a '}' that closes the block, or the end of the file.
void Parser::statements(Block& block) {
  while (true) {
    while (accept(TokenKind::end_of_line) || accept(TokenKind::semicolon)) {
    }
    if (at(TokenKind::right_brace) || at(TokenKind::end_of_file)) return;
    block.push_back(statement());
    end_statement();
  }
}

Statement Parser::statement() {
  Statement statement;
  statement.position = current_.position;
  const std::size_t start = current_.offset;
  header_end_ = 0;
  statement.node = node();
  if (failed()) return statement;
  const std::size_t end = header_end_ != 0 ? header_end_ : last_end_;
  statement.text = text_.substr(start, end - start);
  // A row's title is one line.
  if (statement.text.find('\n') != std::string::npos) statement.text = print_title(statement);
  return statement;
}

void Parser::end_statement() {
  if (at_statement_end()) return;
  if (at(TokenKind::assign)) {
    fail(current_.position, "expected the end of the statement but found '=': to compare, write '=='");
  }
  fail_expected("the end of the statement");
}

decltype(Statement::node) Parser::node() {
  if (!at(TokenKind::name)) {
    fail_expected(kAnyStatement);
    return ExitChild{};
  }
  if (is_reserved(current_.text)) return named_statement();
  const Token name = current_;
  advance();
  if (at(TokenKind::left_paren)) return call(name);
  if (at(TokenKind::assign)) return assignment(name);
  Nearest nearest(name.text);
  for (const std::string_view word : kReserved) nearest.offer(word);
  offer_calls(nearest);
  const std::string suggestion = nearest.suggestion();
  if (suggestion.empty() || nearest.knows_it()) {
    fail(current_.position, "expected '(' or '=' after " + describe(name) + " but found " + describe(current_));
  } else {
    fail(name.position, "unknown statement " + describe(name) + suggestion);
  }
  return ExitChild{};
}

decltype(Statement::node) Parser::named_statement() {
  if (accept_name("let")) return let();
  if (accept_name("expect")) return expectation();
  if (accept_name("measure")) return measure();
  if (accept_name("repeat")) return repeat();
  if (accept_name("for")) return for_loop();
  if (accept_name("child")) return child();
  if (accept_name("threads")) return threads();
  if (at_name("param")) return param();
  fail_expected(kAnyStatement);  // in, on, at
  return ExitChild{};
}

bool Parser::check_new_name(const Token& name) {
  if (name.kind != TokenKind::name) {
    fail_expected("a name");
  } else if (is_reserved(name.text)) {
    fail(name.position, describe(name) + " is a word of the language: expected another name");
  } else if (constant_named(name.text)) {
    fail(name.position, describe(name) + " is a constant: expected another name");
  } else if (const Binding* here = scopes_.find_here(name.text)) {
    const std::string instead = here->kind == NameKind::variable ? "'" + excerpt(name.text) + " = …' to change it"
                                                                 : std::string("another name");
    fail(name.position, describe(name) + " is defined in this block already, on line " + std::to_string(here->line) +
                            ": expected " + instead);
  }
  return !failed();
}

bool Parser::check_assignable(const Token& name, const Binding& binding) {
  if (binding.kind == NameKind::param) {
    fail(name.position, describe(name) + " is a param, which only --set changes: expected a variable");
  } else if (binding.kind == NameKind::loop) {
    fail(name.position, describe(name) + " belongs to its block, which alone counts it: expected a variable");
  }
  return !failed();
}

Param Parser::param() {
  const Position position = current_.position;
  advance();
  if (block_depth_ > 0) fail(position, "a param in a block: expected it at the top level, where --set finds it");
  const Token name = current_;
  Param param;
  if (!check_new_name(name)) return param;
  advance();
  require(TokenKind::assign, "'=' and the param's value");
  in_param_ = true;
  param.value = expression();
  in_param_ = false;
  param.name = name.text;
  param.slot = scopes_.define(name.text, NameKind::param, name.position.line);
  return param;
}

Let Parser::let() {
  const Token name = current_;
  Let let;
  if (!check_new_name(name)) return let;
  advance();
  require(TokenKind::assign, "'=' and the variable's value");
  let.value = expression();
  let.name = name.text;
  let.slot = scopes_.define(name.text, NameKind::variable, name.position.line);
  return let;
}

/// Begins at the '=' behind the target.
decltype(Statement::node) Parser::assignment(const Token& target) {
  advance();
  const Binding* known = scopes_.find(target.text);
  if (at(TokenKind::name) && next_is_paren() && !probe_named(current_.text)) {
    const Token name = current_;
    const auto sys = sys_named(name.text);
    if (!sys) {
      fail_unknown_call(name);
      return ExitChild{};
    }
    if (known == nullptr ? !check_new_name(target) : !check_assignable(target, *known)) return ExitChild{};
    advance();
    SystemCall call = system_call(sys_signatures()[static_cast<std::size_t>(*sys)], name);
    // Looked up after the arguments, which cannot use a name that this call defines.
    call.result_slot =
        known != nullptr ? known->slot : scopes_.define(target.text, NameKind::variable, target.position.line);
    call.result_name = target.text;
    return call;
  }
  if (known == nullptr) {
    if (!constant_named(target.text)) {
      Nearest nearest(target.text);
      scopes_.offer_all(nearest);
      const std::string define = ": expected 'let " + excerpt(target.text) + " = …' to define it";
      fail(target.position, "unknown variable " + describe(target) + nearest.suggestion(define));
    }
    check_new_name(target);
    return ExitChild{};
  }
  if (!check_assignable(target, *known)) return ExitChild{};
  Let let;
  let.rebinds = true;
  let.name = target.text;
  let.slot = known->slot;
  let.value = expression();
  return let;
}

Expect Parser::expectation() {
  Expect expect;
  expect.condition = expression();
  if (!at_name("on")) return expect;
  do {
    current_ = lexer_.word();
    std::string expected;
    auto pattern = parse_machine_pattern(current_.text, expected);
    if (!pattern) {
      const std::string found = current_.text.empty() ? "nothing" : describe(current_);
      fail(current_.position, "expected " + expected + " but found " + found);
      return expect;
    }
    expect.machines.push_back(std::move(*pattern));
    advance();
  } while (at(TokenKind::comma));
  return expect;
}

}  // namespace faultline::program
