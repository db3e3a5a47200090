#include "program/operators.h"

#include <array>
#include <utility>

namespace faultline::program {
namespace {

constexpr auto kOperators = std::to_array<BinaryOperator>({
    {BinaryOp::bit_or, TokenKind::bar, "|", 3},
    {BinaryOp::bit_xor, TokenKind::caret, "^", 4},
    {BinaryOp::bit_and, TokenKind::ampersand, "&", 5},
    {BinaryOp::shift_left, TokenKind::shift_left, "<<", 8},
    {BinaryOp::shift_right, TokenKind::shift_right, ">>", 8},
    {BinaryOp::add, TokenKind::plus, "+", 9},
    {BinaryOp::subtract, TokenKind::minus, "-", 9},
    {BinaryOp::multiply, TokenKind::star, "*", 10},
    {BinaryOp::divide, TokenKind::slash, "/", 10},
    {BinaryOp::remainder, TokenKind::percent, "%", 10},
    {BinaryOp::equal, TokenKind::equal, "==", 6},
    {BinaryOp::not_equal, TokenKind::not_equal, "!=", 6},
    {BinaryOp::less, TokenKind::less, "<", 7},
    {BinaryOp::less_equal, TokenKind::less_equal, "<=", 7},
    {BinaryOp::greater, TokenKind::greater, ">", 7},
    {BinaryOp::greater_equal, TokenKind::greater_equal, ">=", 7},
    {BinaryOp::logical_and, TokenKind::and_and, "&&", 2},
    {BinaryOp::logical_or, TokenKind::or_or, "||", 1},
});
static_assert([] {
  for (std::size_t i = 0; i < kOperators.size(); ++i) {
    if (std::to_underlying(kOperators[i].op) != i) return false;
  }
  return kOperators.size() == std::to_underlying(BinaryOp::logical_or) + 1U;
}());

}  // namespace

const BinaryOperator* binary_operator(TokenKind token) {
  // Every token behind an operand is looked up here, so it is one step.
  static constexpr auto kByToken = [] {
    std::array<const BinaryOperator*, std::to_underlying(TokenKind::or_or) + 1> table{};
    for (const BinaryOperator& op : kOperators) table[std::to_underlying(op.token)] = &op;
    return table;
  }();
  return kByToken[std::to_underlying(token)];
}

const BinaryOperator& binary_operator(BinaryOp op) { return kOperators[std::to_underlying(op)]; }

std::string_view unary_text(UnaryOp op) {
  switch (op) {
    case UnaryOp::minus:
      return "-";
    case UnaryOp::complement:
      return "~";
    case UnaryOp::logical_not:
      return "!";
  }
  return "";
}

}  // namespace faultline::program
