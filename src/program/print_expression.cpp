#include "program/print_expression.h"

#include "program/operators.h"
#include "program/utf8.h"

namespace faultline::program {
namespace {

constexpr unsigned kUnaryPrecedence = 11;  // above every binary operator
constexpr unsigned kPrimaryPrecedence = 12;

unsigned precedence(const Expr& expr) {
  if (const auto* binary = std::get_if<Binary>(&expr.node)) return binary_operator(binary->op).precedence;
  return std::holds_alternative<Unary>(expr.node) ? kUnaryPrecedence : kPrimaryPrecedence;
}

std::string_view probe_name(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::vmas:
      return "vmas";
    case ProbeKind::resident:
      return "resident";
    case ProbeKind::huge:
      return "huge";
    case ProbeKind::perm:
      return "perm";
    case ProbeKind::value:
      return "value";
    case ProbeKind::state:
      return "state";
    case ProbeKind::soft_dirty:
      return "soft_dirty";
    case ProbeKind::uffd_wp:
      return "uffd_wp";
    case ProbeKind::max_map_count:
      return "max_map_count";
    case ProbeKind::named:
      return "named";
    case ProbeKind::vmflags:
      return "vmflags";
    case ProbeKind::pkey:
      return "pkey";
    case ProbeKind::faults:
      return "faults";
    case ProbeKind::minflt:
      return "minflt";
    case ProbeKind::count:
      return "count";
  }
  return "";
}

/// The expression, in parentheses when it binds weaker than its place needs.
void print_operand(const Expr& expr, unsigned least, std::string& out) {
  const bool parens = precedence(expr) < least;
  if (parens) out += '(';
  print_expression(expr, out);
  if (parens) out += ')';
}

struct ExpressionPrinter {
  std::string& out;

  void operator()(const Number& number) const {
    out += number.text.empty() ? std::to_string(number.value) : number.text;
  }
  void operator()(const NamedConstant& constant) const { out += constant.name; }
  void operator()(const Variable& variable) const { out += variable.name; }
  void operator()(const StringLiteral& literal) const { out += quote(literal.value); }
  void operator()(const Unary& unary) const {
    out += unary_text(unary.op);
    print_operand(*unary.operand, kUnaryPrecedence, out);
  }
  void operator()(const Binary& binary) const {
    const BinaryOperator& op = binary_operator(binary.op);
    print_operand(*binary.left, op.precedence, out);
    // Flags stand close together, as strace and everyone else writes them.
    const bool close = binary.op == BinaryOp::bit_or;
    if (!close) out += ' ';
    out += op.text;
    if (!close) out += ' ';
    print_operand(*binary.right, op.precedence + 1, out);
  }
  void operator()(const Probe& probe) const {
    out += probe_name(probe.kind);
    if (probe.kind == ProbeKind::count) {
      out += "(" + probe.counter + ", " + quote(probe.measure) + ")";
    } else if (probe.kind == ProbeKind::faults || probe.kind == ProbeKind::minflt) {
      out += "(" + quote(probe.measure) + ")";
    } else {
      print_arguments(probe.arguments, out);
    }
  }
};

}  // namespace

void print_expression(const Expr& expr, std::string& out) { std::visit(ExpressionPrinter{out}, expr.node); }

void print_arguments(const std::vector<ExprPtr>& arguments, std::string& out) {
  out += '(';
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) out += ", ";
    print_expression(*arguments[i], out);
  }
  out += ')';
}

std::string quote(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string quoted = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = utf8_length(text);
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c == '\r') {
      quoted += "\\r";
    } else if (length == 0 || is_control(c)) {
      const auto byte = static_cast<unsigned char>(c);
      quoted += {'\\', 'x', kHex[byte / 16U], kHex[byte % 16U]};
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return quoted + '"';
}

}  // namespace faultline::program
