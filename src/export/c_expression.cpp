#include "export/c_expression.h"

#include <algorithm>
#include <array>

#include "program/constants.h"
#include "program/operators.h"

namespace faultline::exports {

using namespace program;  // whose tree it walks

namespace {

constexpr unsigned kWordBits = 64;

bool is_literal_below(const Expr& expr, std::uint64_t limit) {
  const auto* number = std::get_if<Number>(&expr.node);
  return number != nullptr && number->value < limit;
}

bool is_literal_above_zero(const Expr& expr) {
  const auto* number = std::get_if<Number>(&expr.node);
  const auto* constant = std::get_if<NamedConstant>(&expr.node);
  return (number != nullptr && number->value != 0) || (constant != nullptr && constant->value != 0);
}

/// Operators between whose results and operands nobody doubts the order, and -Wall neither.
bool needs_no_parentheses(BinaryOp outer, BinaryOp inner) {
  const auto is_sum = [](BinaryOp op) { return op == BinaryOp::add || op == BinaryOp::subtract; };
  if (outer == BinaryOp::bit_or || outer == BinaryOp::logical_and || outer == BinaryOp::logical_or) {
    return inner == outer;
  }
  return is_sum(outer) && (is_sum(inner) || inner == BinaryOp::multiply);
}

/// Flags between flags stay int; in arithmetic they are of the width of all other values.
bool keeps_int(BinaryOp op) { return op == BinaryOp::bit_or || op == BinaryOp::bit_and || op == BinaryOp::bit_xor; }

std::string_view probe_function(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::vmas:
      return "mappings";
    case ProbeKind::resident:
      return "resident";
    case ProbeKind::perm:
      return "protection";
    case ProbeKind::value:
      return "byte_at";
    case ProbeKind::max_map_count:
      return "max_map_count";
    case ProbeKind::huge:
      return "huge";
    case ProbeKind::state:
    case ProbeKind::soft_dirty:
    case ProbeKind::uffd_wp:
    case ProbeKind::named:
    case ProbeKind::vmflags:
    case ProbeKind::pkey:
    case ProbeKind::faults:
    case ProbeKind::minflt:
    case ProbeKind::count:
      break;
  }
  return "";
}

std::string untellable_probe(const Probe& probe) {
  if (probe.kind == ProbeKind::state) return "the reproducer makes no digests";
  if (probe.kind == ProbeKind::soft_dirty || probe.kind == ProbeKind::uffd_wp) {
    return "the reproducer does not see how writes are tracked";
  }
  if (probe.kind == ProbeKind::pkey) return "the reproducer does not read the protection keys of mappings";
  if (probe.kind == ProbeKind::named) return "the reproducer does not read names of mappings";
  if (probe.kind == ProbeKind::vmflags) return "the reproducer does not read smaps";
  const bool counted = probe.counter == "minor_faults" || probe.counter == "exceptions";
  if (probe.kind == ProbeKind::count && !counted) return "the reproducer does not see " + probe.counter;
  for (const ExprPtr& argument : probe.arguments) {
    if (std::string why = untellable(*argument); !why.empty()) return why;
  }
  return {};
}

}  // namespace

std::string untellable(const Expr& expr) {
  if (const auto* unary = std::get_if<Unary>(&expr.node)) return untellable(*unary->operand);
  if (const auto* binary = std::get_if<Binary>(&expr.node)) {
    const std::string left = untellable(*binary->left);
    return left.empty() ? untellable(*binary->right) : left;
  }
  if (const auto* probe = std::get_if<Probe>(&expr.node)) return untellable_probe(*probe);
  return {};
}

struct CExpressions::Writer {
  const CExpressions& self;

  std::string operator()(const Number& number) const {
    const bool hexadecimal = number.text.starts_with("0x");
    constexpr std::uint64_t kSmall = 1U << 16U;
    if (!hexadecimal || number.value < kSmall) return std::to_string(number.value) + "ul";
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "0x%llxul", static_cast<unsigned long long>(number.value));
    return digits.data();
  }
  std::string operator()(const NamedConstant& constant) const {
    if (constant.name == "NULL") return "0ul";
    if (constant.name != "PAGE" && constant.name != "UNMAPPED") self.parts_.constants.insert(constant.name);
    return constant.name;
  }
  std::string operator()(const Variable& variable) const { return self.variables_.name(variable.slot); }
  std::string operator()(const StringLiteral& literal) const { return "(uintptr_t)" + c_string(literal.value); }

  std::string operator()(const Unary& unary) const {
    const std::string operand = self.operand(*unary.operand);
    if (unary.op == UnaryOp::logical_not) return "!" + operand;
    const bool one = std::holds_alternative<Number>(unary.operand->node);
    return std::string(unary_text(unary.op)) + (one ? "" : "(uint64_t)") + operand;
  }

  std::string side(BinaryOp op, const Expr& expr) const {
    if (std::holds_alternative<NamedConstant>(expr.node) && !keeps_int(op)) {
      const std::string name = self.text(expr);
      return name == "PAGE" || name == "UNMAPPED" || name == "0ul" ? name : "(uint64_t)" + name;
    }
    const auto* inner = std::get_if<Binary>(&expr.node);
    return inner != nullptr && needs_no_parentheses(op, inner->op) ? self.text(expr) : self.operand(expr);
  }

  std::string operator()(const Binary& binary) const {
    const bool shifts = binary.op == BinaryOp::shift_left || binary.op == BinaryOp::shift_right;
    if (shifts && !is_literal_below(*binary.right, kWordBits)) {
      self.parts_.use(CPart::shift);
      const std::string name = binary.op == BinaryOp::shift_left ? "shift_left(" : "shift_right(";
      return name + self.text(*binary.left) + ", " + self.text(*binary.right) + ")";
    }
    const bool divides = binary.op == BinaryOp::divide || binary.op == BinaryOp::remainder;
    if (divides && !is_literal_above_zero(*binary.right)) {
      self.parts_.use(CPart::divide);
      const std::string divisor = "divisor(" + self.text(*binary.right) + ")";
      return side(binary.op, *binary.left) + " " + std::string(binary_operator(binary.op).text) + " " + divisor;
    }
    // The right side of a difference or a quotient binds as one.
    const auto* right = std::get_if<Binary>(&binary.right->node);
    const bool right_as_is = right != nullptr && right->op != BinaryOp::add && right->op != BinaryOp::subtract;
    std::string text = side(binary.op, *binary.left);
    text += binary.op == BinaryOp::bit_or ? std::string("|") : " " + std::string(binary_operator(binary.op).text) + " ";
    text += right == nullptr || right_as_is ? side(binary.op, *binary.right) : self.operand(*binary.right);
    return text;
  }

  std::string operator()(const Probe& probe) const {
    if (probe.kind == ProbeKind::faults || probe.kind == ProbeKind::minflt || probe.kind == ProbeKind::count) {
      self.parts_.use(CPart::repetitions);
      const bool minor = probe.kind == ProbeKind::minflt || probe.counter == "minor_faults";
      const auto measure = self.measures_.find(probe.measure);
      const std::size_t number = measure == self.measures_.end() ? 0 : measure->second;
      return std::string(minor ? "faults_of(" : "exceptions_of(") + std::to_string(number) + ")";
    }
    if (probe.kind == ProbeKind::resident || probe.kind == ProbeKind::value) self.parts_.use(CPart::pages);
    if (probe.kind == ProbeKind::huge) self.parts_.use(CPart::huge);
    if (probe.kind == ProbeKind::perm) self.parts_.use(CPart::protection);
    if (probe.kind == ProbeKind::max_map_count) self.parts_.use(CPart::map_limit);
    if (probe.kind == ProbeKind::vmas && probe.arguments.empty()) return "all_mappings()";
    std::string text(probe_function(probe.kind));
    text += "(";
    for (std::size_t i = 0; i < probe.arguments.size(); ++i) {
      text += (i > 0 ? ", " : "") + self.text(*probe.arguments[i]);
    }
    return text + ")";
  }
};

std::string CExpressions::text(const Expr& expr) const { return std::visit(Writer{*this}, expr.node); }

std::string CExpressions::operand(const Expr& expr) const {
  const bool whole = !std::holds_alternative<Binary>(expr.node) && !std::holds_alternative<Unary>(expr.node);
  return whole ? text(expr) : "(" + text(expr) + ")";
}

std::string c_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      // Always three digits: a fourth is a character of its own.
      quoted += {'\\', static_cast<char>('0' + (byte >> 6U)), static_cast<char>('0' + ((byte >> 3U) & 7U)),
                 static_cast<char>('0' + (byte & 7U))};
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace faultline::exports
