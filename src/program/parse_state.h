#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "program/error.h"
#include "program/ioctl.h"
#include "program/lexer.h"
#include "program/parser.h"
#include "program/program.h"
#include "program/scope.h"
#include "program/token.h"

namespace faultline::program {

/// The recursive-descent parser behind parse(). Each node's function begins at the node's first token and ends behind
/// its last. The first failure is kept and turns the rest of the text into an end of file, so that every function
/// runs out by itself; what was parsed is then thrown away, and only null expressions need a look.
class Parser {
 public:
  Parser(std::string_view text, std::string name);
  std::expected<Program, Error> run();

 private:
  /// An expression and the height of its tree.
  struct Sized {
    ExprPtr expr;
    unsigned height = 0;
  };
  /// What stands between a call's parentheses, and the height of the highest.
  struct Arguments {
    std::vector<ExprPtr> list;
    unsigned height = 0;
  };
  /// A block that some expression or statement names by a string, to be looked up when the whole text is known.
  struct Mention {
    std::string name;
    Position position;
  };

  // parser.cpp: tokens and failure
  void advance();
  bool at(TokenKind kind) const { return current_.kind == kind; }
  bool at_name(std::string_view word) const { return at(TokenKind::name) && current_.text == word; }
  bool at_statement_end() const;
  bool accept(TokenKind kind);
  bool accept_name(std::string_view word);
  /// Steps over a token of this kind, or fails with "expected EXPECTED but found …".
  bool require(TokenKind kind, std::string_view expected);
  void fail(Position position, std::string message);
  void fail_expected(std::string_view expected);
  bool failed() const { return error_.has_value(); }
  bool next_is_paren() const;  // the token after the current one
  void check_mentions();
  std::string first_comment() const;

  // parse_statement.cpp
  void statements(Block& block);
  Statement statement();
  void end_statement();
  decltype(Statement::node) node();
  decltype(Statement::node) named_statement();
  Param param();
  Let let();
  Expect expectation();
  decltype(Statement::node) assignment(const Token& target);
  bool check_new_name(const Token& name);
  bool check_assignable(const Token& name, const Binding& binding);

  // parse_block.cpp
  Block block();
  Repeat repeat();
  For for_loop();
  Measure measure();
  Child child();
  ExitChild exit_child();
  Threads threads();
  std::string block_name(std::string_view what);

  // parse_call.cpp
  decltype(Statement::node) call(const Token& name);
  SystemCall system_call(const SysSignature& signature, const Token& name);
  Access access(AccessKind kind, const Token& name);
  PlaceCode place_code(const Token& name);
  Arguments arguments(const Token& callee, std::size_t least, std::size_t most, std::string_view parameters,
                      std::optional<std::size_t> string_argument = std::nullopt);
  ResultAssertion system_call_assertion();
  ResultAssertion access_assertion();
  void step_over_note();
  void fail_unknown_call(const Token& name);

  // parse_ioctl.cpp
  SystemCall ioctl_call();
  void ioctl_fields(const IoctlRequest& request, std::string_view prefix, std::vector<ExprPtr>& values);

  // parse_expression.cpp
  ExprPtr expression();
  Sized binary(unsigned least_precedence);
  Sized unary();
  Sized primary();
  Sized named_value();
  Sized probe(ProbeKind kind, const Token& name);
  template <class Node>
  Sized make(Position position, Node&& node, unsigned height) {
    if (height > kMaxExpressionDepth) fail_too_deep(position);
    if (failed()) return {};
    // Built where it stays: a large program is mostly expressions.
    return {ExprPtr(new Expr{position, std::forward<Node>(node)}), height};
  }
  void fail_too_deep(Position position);
  void fail_unknown_name(const Token& name);

  std::string_view text_;
  Program program_;
  Lexer lexer_;
  Token current_;
  std::size_t last_end_ = 0;    // offset behind the token before the current one
  std::size_t header_end_ = 0;  // offset behind the header of the block parsed last
  std::optional<Error> error_;
  Scopes scopes_;
  unsigned block_depth_ = 0;
  unsigned expression_depth_ = 0;
  bool in_param_ = false;
  std::unordered_set<std::string> measures_;
  std::unordered_set<std::string> children_;
  std::vector<Mention> measure_mentions_;
  std::vector<Mention> child_mentions_;
};

/// How many arguments a probe takes besides names: vmas() takes none or two.
struct ProbeSignature {
  ProbeKind kind{};
  std::string_view name;
  std::size_t least = 0;
  std::size_t most = 0;
  std::string_view parameters;
};
std::optional<ProbeSignature> probe_named(std::string_view name);
std::optional<AccessKind> access_named(std::string_view name);
/// Offers every name that may stand before a parenthesis.
void offer_calls(Nearest& nearest);
void offer_probes(Nearest& nearest);

}  // namespace faultline::program
