#include "run/evaluate.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace faultline::run {
namespace {

using namespace program;

class Evaluator {
 public:
  Evaluator(std::span<const std::uint64_t> slots, ProbeSource& probes) : slots_(slots), probes_(probes) {}

  Value value(const Expr& expr) {
    return std::visit([&](const auto& node) { return node_value(expr, node); }, expr.node);
  }

  static Value combine(Position position, BinaryOp op, std::uint64_t a, std::uint64_t b);

 private:
  Value node_value(const Expr&, const Number& n) { return n.value; }
  Value node_value(const Expr&, const NamedConstant& n) { return n.value; }
  Value node_value(const Expr&, const Variable& v) { return slots_[v.slot.index]; }
  Value node_value(const Expr&, const StringLiteral& s) { return reinterpret_cast<std::uint64_t>(s.value.c_str()); }

  Value node_value(const Expr&, const Unary& u) {
    const Value operand = value(*u.operand);
    if (!operand) return operand;
    switch (u.op) {
      case UnaryOp::minus:
        return 0 - *operand;
      case UnaryOp::complement:
        return ~*operand;
      case UnaryOp::logical_not:
        return *operand == 0 ? 1 : 0;
    }
    return 0;
  }

  Value node_value(const Expr& expr, const Binary& b) {
    const Value left = value(*b.left);
    if (!left) return left;
    if (b.op == BinaryOp::logical_and && *left == 0) return 0;
    if (b.op == BinaryOp::logical_or && *left != 0) return 1;
    const Value right = value(*b.right);
    if (!right) return right;
    return combine(expr.position, b.op, *left, *right);
  }

  Value node_value(const Expr& expr, const Probe& p) {
    std::array<std::uint64_t, 4> arguments{};
    if (p.arguments.size() > arguments.size()) {
      return std::unexpected(EvalError{EvalFailure::misuse, expr.position, "too many arguments"});
    }
    for (std::size_t i = 0; i < p.arguments.size(); ++i) {
      const Value argument = value(*p.arguments[i]);
      if (!argument) return argument;
      arguments[i] = *argument;
    }
    return probes_.probe(expr.position, p, std::span(arguments).first(p.arguments.size()));
  }

  std::span<const std::uint64_t> slots_;
  ProbeSource& probes_;
};

Value Evaluator::combine(Position position, BinaryOp op, std::uint64_t a, std::uint64_t b) {
  switch (op) {
    case BinaryOp::bit_or:
      return a | b;
    case BinaryOp::bit_xor:
      return a ^ b;
    case BinaryOp::bit_and:
      return a & b;
    case BinaryOp::shift_left:
      return b < 64 ? a << b : 0;
    case BinaryOp::shift_right:
      return b < 64 ? a >> b : 0;
    case BinaryOp::add:
      return a + b;
    case BinaryOp::subtract:
      return a - b;
    case BinaryOp::multiply:
      return a * b;
    case BinaryOp::divide:
      if (b == 0) return std::unexpected(EvalError{EvalFailure::misuse, position, "division by zero"});
      return a / b;
    case BinaryOp::remainder:
      if (b == 0) return std::unexpected(EvalError{EvalFailure::misuse, position, "remainder of a division by zero"});
      return a % b;
    case BinaryOp::equal:
      return a == b;
    case BinaryOp::not_equal:
      return a != b;
    case BinaryOp::less:
      return a < b;
    case BinaryOp::less_equal:
      return a <= b;
    case BinaryOp::greater:
      return a > b;
    case BinaryOp::greater_equal:
      return a >= b;
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      return b != 0;
  }
  return 0;
}

/// The sign of a comparison, empty for other operators.
std::string_view comparison_sign(BinaryOp op) {
  switch (op) {
    case BinaryOp::equal:
      return "==";
    case BinaryOp::not_equal:
      return "!=";
    case BinaryOp::less:
      return "<";
    case BinaryOp::less_equal:
      return "<=";
    case BinaryOp::greater:
      return ">";
    case BinaryOp::greater_equal:
      return ">=";
    default:
      return "";
  }
}

}  // namespace

Value evaluate(const Expr& expr, std::span<const std::uint64_t> slots, ProbeSource& probes) {
  return Evaluator(slots, probes).value(expr);
}

std::string value_text(std::uint64_t value) {
  std::array<char, 32> buffer{};
  const auto signed_value = static_cast<std::int64_t>(value);
  if (signed_value < 0 && signed_value > -(std::int64_t{1} << 32)) {
    return {buffer.data(), std::to_chars(buffer.begin(), buffer.end(), signed_value).ptr};
  }
  if (value < std::uint64_t{1} << 32) {
    return {buffer.data(), std::to_chars(buffer.begin(), buffer.end(), value).ptr};
  }
  return "0x" + std::string(buffer.data(), std::to_chars(buffer.begin(), buffer.end(), value, 16).ptr);
}

std::expected<std::optional<std::string>, EvalError> find_falsehood(const Expr& condition,
                                                                    std::span<const std::uint64_t> slots,
                                                                    ProbeSource& probes) {
  Evaluator evaluator(slots, probes);
  const auto* binary = std::get_if<Binary>(&condition.node);
  if (binary != nullptr && binary->op == BinaryOp::logical_and) {
    auto left = find_falsehood(*binary->left, slots, probes);
    if (!left || *left) return left;
    return find_falsehood(*binary->right, slots, probes);
  }
  if (binary != nullptr && !comparison_sign(binary->op).empty()) {
    const Value left = evaluator.value(*binary->left);
    if (!left) return std::unexpected(left.error());
    const Value right = evaluator.value(*binary->right);
    if (!right) return std::unexpected(right.error());
    const Value holds = Evaluator::combine(condition.position, binary->op, *left, *right);
    if (!holds) return std::unexpected(holds.error());
    if (*holds != 0) return std::nullopt;
    const std::string sign = binary->op == BinaryOp::equal ? "" : std::string(comparison_sign(binary->op)) + " ";
    return "found " + value_text(*left) + ", expected " + sign + value_text(*right);
  }
  const Value value = evaluator.value(condition);
  if (!value) return std::unexpected(value.error());
  if (*value != 0) return std::nullopt;
  return "found 0, expected it to hold";
}

}  // namespace faultline::run
