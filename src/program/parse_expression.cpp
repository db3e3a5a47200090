#include <algorithm>
#include <array>
#include <utility>

#include "base/counters.h"
#include "program/constants.h"
#include "program/nearest.h"
#include "program/operators.h"
#include "program/parse_state.h"

namespace faultline::program {
namespace {

constexpr auto kProbes = std::to_array<ProbeSignature>({
    {ProbeKind::vmas, "vmas", 0, 2, "addr, length"},
    {ProbeKind::resident, "resident", 2, 2, "addr, length"},
    {ProbeKind::huge, "huge", 2, 2, "addr, length"},
    {ProbeKind::perm, "perm", 1, 1, "addr"},
    {ProbeKind::value, "value", 1, 1, "addr"},
    {ProbeKind::state, "state", 2, 2, "addr, length"},
    {ProbeKind::soft_dirty, "soft_dirty", 2, 2, "addr, length"},
    {ProbeKind::uffd_wp, "uffd_wp", 2, 2, "addr, length"},
    {ProbeKind::max_map_count, "max_map_count", 0, 0, ""},
    {ProbeKind::named, "named", 2, 2, "addr, \"name\""},
    {ProbeKind::vmflags, "vmflags", 2, 2, "addr, \"letters\""},
    {ProbeKind::pkey, "pkey", 1, 1, "addr"},
    {ProbeKind::faults, "faults", 0, 0, "\"measure\""},
    {ProbeKind::minflt, "minflt", 0, 0, "\"measure\""},
    {ProbeKind::count, "count", 0, 0, "counter, \"measure\""},
});

std::optional<UnaryOp> unary_op(TokenKind kind) {
  if (kind == TokenKind::minus) return UnaryOp::minus;
  if (kind == TokenKind::tilde) return UnaryOp::complement;
  if (kind == TokenKind::exclamation) return UnaryOp::logical_not;
  return std::nullopt;
}

bool is_zero(const ExprPtr& expr) {
  const Number* number = std::get_if<Number>(&expr->node);
  return number != nullptr && number->value == 0;
}

/// Counts the levels of recursion while it lives.
class Level {
 public:
  explicit Level(unsigned& depth) : depth_(++depth) {}
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  unsigned& depth_;
};

}  // namespace

std::optional<ProbeSignature> probe_named(std::string_view name) {
  for (const ProbeSignature& probe : kProbes) {
    if (probe.name == name) return probe;
  }
  return std::nullopt;
}

void offer_probes(Nearest& nearest) {
  for (const ProbeSignature& probe : kProbes) nearest.offer(probe.name);
}

void Parser::fail_too_deep(Position position) {
  fail(position, "this expression is too deep: expected at most " + std::to_string(kMaxExpressionDepth) + " levels");
}

ExprPtr Parser::expression() { return binary(0).expr; }

Parser::Sized Parser::binary(unsigned least_precedence) {
  Sized left = unary();
  while (!failed()) {
    const BinaryOperator* op = binary_operator(current_.kind);
    if (op == nullptr || op->precedence < least_precedence) return left;
    const Position position = current_.position;
    advance();
    Sized right = binary(op->precedence + 1);
    if (failed()) return {};
    if ((op->op == BinaryOp::divide || op->op == BinaryOp::remainder) && is_zero(right.expr)) {
      fail(right.expr->position, "division by zero: expected a divisor other than 0");
      return {};
    }
    const unsigned height = std::max(left.height, right.height) + 1;
    left = make(position, Binary{op->op, std::move(left.expr), std::move(right.expr)}, height);
  }
  return {};
}

Parser::Sized Parser::unary() {
  const Level level(expression_depth_);
  if (expression_depth_ > kMaxExpressionDepth) fail_too_deep(current_.position);
  const auto op = unary_op(current_.kind);
  if (!op) return primary();
  const Position position = current_.position;
  advance();
  Sized operand = unary();
  return make(position, Unary{*op, std::move(operand.expr)}, operand.height + 1);
}

Parser::Sized Parser::primary() {
  const Position position = current_.position;
  switch (current_.kind) {
    case TokenKind::number: {
      Number number{current_.number, std::string(current_.text)};
      advance();
      return make(position, std::move(number), 1);
    }
    case TokenKind::name:
      return named_value();
    case TokenKind::left_paren: {
      advance();
      Sized inner = binary(0);
      if (!at(TokenKind::right_paren)) {
        fail_expected("an operator or ')' to close the '(' of line " + std::to_string(position.line));
      }
      advance();
      return inner;
    }
    case TokenKind::string:
      fail(position, "a string is no value: expected a number, a name or '('");
      return {};
    default:
      fail_expected("a value: a number, a name, '-', '~', '!' or '('");
      return {};
  }
}

Parser::Sized Parser::named_value() {
  const Token name = current_;
  advance();
  if (at(TokenKind::left_paren)) {
    const auto signature = probe_named(name.text);
    if (!signature) {
      fail_unknown_call(name);
      return {};
    }
    if (in_param_) fail(name.position, "a param is known before the program runs: expected numbers and earlier params");
    return probe(signature->kind, name);
  }
  if (const Binding* binding = scopes_.find(name.text)) {
    if (in_param_ && binding->kind != NameKind::param) {
      fail(name.position, describe(name) + " is no param: expected numbers and earlier params");
    }
    return make(name.position, Variable{binding->slot, std::string(name.text)}, 1);
  }
  if (const auto value = constant_named(name.text)) {
    return make(name.position, NamedConstant{*value, std::string(name.text)}, 1);
  }
  fail_unknown_name(name);
  return {};
}

Parser::Sized Parser::probe(ProbeKind kind, const Token& name) {
  Probe probe{};
  probe.kind = kind;
  unsigned height = 0;
  if (kind == ProbeKind::faults || kind == ProbeKind::minflt || kind == ProbeKind::count) {
    advance();
    if (kind == ProbeKind::count) {
      if (!at(TokenKind::name) || !counter_named(current_.text)) {
        Nearest nearest(current_.text);
        for (std::size_t i = 0; i < kCounters; ++i) nearest.offer(counter_name(static_cast<Counter>(i)));
        fail(current_.position,
             "expected a counter such as ptes_changed but found " + describe(current_) + nearest.suggestion());
      }
      probe.counter = current_.text;
      advance();
      require(TokenKind::comma, "',' and the name of a measure block in quotes");
    }
    measure_mentions_.push_back({current_.decoded, current_.position});
    probe.measure = current_.decoded;
    require(TokenKind::string, "the name of a measure block in quotes");
    require(TokenKind::right_paren, "')'");
  } else {
    const auto signature = probe_named(name.text);
    const bool takes_text = kind == ProbeKind::named || kind == ProbeKind::vmflags;
    Arguments given = arguments(name, signature->least, signature->most, signature->parameters,
                                takes_text ? std::optional<std::size_t>(1) : std::nullopt);
    if (takes_text && !failed() && !std::holds_alternative<StringLiteral>(given.list[1]->node)) {
      fail(given.list[1]->position, kind == ProbeKind::named
                                        ? "expected the name of a mapping in quotes"
                                        : "expected flags as smaps shows them, in quotes: \"rd wr mr mw me\"");
    }
    probe.arguments = std::move(given.list);
    height = given.height;
    if (kind == ProbeKind::vmas && probe.arguments.size() == 1) {
      fail(name.position, "vmas takes no argument (the whole process) or two (addr, length): 1 given");
    }
  }
  return make(name.position, std::move(probe), height + 1);
}

void Parser::fail_unknown_name(const Token& name) {
  Nearest nearest(name.text);
  scopes_.offer_all(nearest);
  for (const Constant& constant : constants()) nearest.offer(constant.name);
  fail(name.position, "unknown name " + describe(name) +
                          nearest.suggestion(": expected a variable defined above, or a constant such as PROT_READ"));
}

}  // namespace faultline::program
