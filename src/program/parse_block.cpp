#include <utility>

#include "program/parse_state.h"
#include "program/print_expression.h"
#include "program/utf8.h"

namespace faultline::program {

Block Parser::block() {
  const std::size_t header_end = last_end_;
  const Position opened = current_.position;
  require(TokenKind::left_brace, "'{' on the same line");
  if (++block_depth_ > kMaxBlockDepth) {
    fail(opened,
         "this block is too deep: expected at most " + std::to_string(kMaxBlockDepth) + " blocks in each other");
  }
  Block body;
  statements(body);
  if (at(TokenKind::end_of_file)) {
    fail(opened, "this block is never closed: expected '}' before the end of the file");
  }
  advance();
  --block_depth_;
  header_end_ = header_end;
  return body;
}

Repeat Parser::repeat() {
  Repeat repeat;
  repeat.count = expression();
  scopes_.open();
  repeat.body = block();
  scopes_.close();
  return repeat;
}

For Parser::for_loop() {
  For loop;
  const Token name = current_;
  scopes_.open();
  if (!check_new_name(name)) return loop;
  advance();
  if (!accept_name("in")) fail_expected("'in' and a range such as 0..n");
  loop.first = expression();
  require(TokenKind::dots, "an operator or '..' and the range's end");
  loop.limit = expression();
  loop.name = name.text;
  loop.slot = scopes_.define(name.text, NameKind::loop, name.position.line);
  loop.body = block();
  scopes_.close();
  return loop;
}

/// A block's name in quotes.
std::string Parser::block_name(std::string_view what) {
  std::string name = current_.decoded;
  if (!at(TokenKind::string)) fail_expected("the name of a " + std::string(what) + " block in quotes");
  if (name.empty())
    fail(current_.position, "this name is empty: expected the name of a " + std::string(what) + " block");
  return name;
}

Measure Parser::measure() {
  Measure measure;
  measure.name = block_name("measure");
  if (!failed() && !measures_.insert(measure.name).second) {
    fail(current_.position, "there is a measure " + quote(excerpt(measure.name)) + " already: expected another name");
  }
  advance();
  if (accept_name("repeat")) measure.count = expression();
  scopes_.open();
  measure.body = block();
  scopes_.close();
  return measure;
}

Child Parser::child() {
  Child child;
  if (!at(TokenKind::left_brace)) {
    child.name = block_name("child");
    children_.insert(child.name);
    advance();
  }
  scopes_.open();
  child.body = block();
  scopes_.close();
  return child;
}

ExitChild Parser::exit_child() {
  advance();
  ExitChild exit;
  exit.name = block_name("child");
  child_mentions_.push_back({exit.name, current_.position});
  advance();
  require(TokenKind::right_paren, "')'");
  return exit;
}

Threads Parser::threads() {
  Threads threads;
  threads.count = expression();
  scopes_.open();
  threads.slot = scopes_.define("thread", NameKind::loop, current_.position.line);
  threads.body = block();
  scopes_.close();
  return threads;
}

}  // namespace faultline::program
