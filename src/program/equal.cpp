#include "program/equal.h"

#include <algorithm>

namespace faultline::program {
namespace {

bool same(const ExprPtr& a, const ExprPtr& b) { return a && b ? equal(*a, *b) : !a && !b; }
bool same(Slot a, Slot b) { return a.index == b.index; }
bool same(const std::optional<Slot>& a, const std::optional<Slot>& b) {
  return a && b ? same(*a, *b) : a.has_value() == b.has_value();
}
bool same(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
  return std::ranges::equal(a, b, [](const ExprPtr& x, const ExprPtr& y) { return same(x, y); });
}
bool same(const Block& a, const Block& b);

bool same(const Number& a, const Number& b) { return a.value == b.value; }
bool same(const NamedConstant& a, const NamedConstant& b) { return a.value == b.value && a.name == b.name; }
bool same(const Variable& a, const Variable& b) { return same(a.slot, b.slot) && a.name == b.name; }
bool same(const StringLiteral& a, const StringLiteral& b) { return a.value == b.value; }
bool same(const Unary& a, const Unary& b) { return a.op == b.op && same(a.operand, b.operand); }
bool same(const Binary& a, const Binary& b) { return a.op == b.op && same(a.left, b.left) && same(a.right, b.right); }
bool same(const Probe& a, const Probe& b) {
  return a.kind == b.kind && a.counter == b.counter && a.measure == b.measure && same(a.arguments, b.arguments);
}

bool same(const ExpectValue& a, const ExpectValue& b) { return same(a.value, b.value); }
bool same(const ExpectErrno& a, const ExpectErrno& b) { return a.error == b.error; }
bool same(const ExpectSignal& a, const ExpectSignal& b) { return a.number == b.number && a.code == b.code; }
bool same(const MachinePattern& a, const MachinePattern& b) {
  return a.kind == b.kind && a.arch == b.arch && a.relation == b.relation && a.version == b.version &&
         a.policies == b.policies;
}

/// Whether two variants hold the same alternative, equal in it. Defined last, where every alternative's same() is
/// known.
template <class Variant>
bool same_variant(const Variant& a, const Variant& b);

bool same(const std::optional<ResultAssertion>& a, const std::optional<ResultAssertion>& b) {
  return a && b ? same_variant(*a, *b) : a.has_value() == b.has_value();
}

bool same(const Param& a, const Param& b) { return same(a.slot, b.slot) && a.name == b.name && same(a.value, b.value); }
bool same(const Let& a, const Let& b) {
  return same(a.slot, b.slot) && a.name == b.name && same(a.value, b.value) && a.rebinds == b.rebinds;
}
bool same(const SystemCall& a, const SystemCall& b) {
  return same(a.result_slot, b.result_slot) && a.result_name == b.result_name && a.sys == b.sys &&
         same(a.arguments, b.arguments) && same(a.assertion, b.assertion);
}
bool same(const Access& a, const Access& b) {
  return a.kind == b.kind && same(a.address, b.address) && same(a.length, b.length) && same(a.stride, b.stride) &&
         same(a.value, b.value) && same(a.text, b.text) && same(a.assertion, b.assertion);
}
bool same(const PlaceCode& a, const PlaceCode& b) { return same(a.address, b.address); }
bool same(const Repeat& a, const Repeat& b) { return same(a.count, b.count) && same(a.body, b.body); }
bool same(const For& a, const For& b) {
  return same(a.slot, b.slot) && a.name == b.name && same(a.first, b.first) && same(a.limit, b.limit) &&
         same(a.body, b.body);
}
bool same(const Measure& a, const Measure& b) {
  return a.name == b.name && same(a.count, b.count) && same(a.body, b.body);
}
bool same(const Child& a, const Child& b) { return a.name == b.name && same(a.body, b.body); }
bool same(const ExitChild& a, const ExitChild& b) { return a.name == b.name; }
bool same(const Threads& a, const Threads& b) {
  return same(a.slot, b.slot) && same(a.count, b.count) && same(a.body, b.body);
}
bool same(const Expect& a, const Expect& b) {
  return same(a.condition, b.condition) &&
         std::ranges::equal(a.machines, b.machines,
                            [](const MachinePattern& x, const MachinePattern& y) { return same(x, y); });
}

bool same(const Block& a, const Block& b) {
  return std::ranges::equal(a, b, [](const Statement& x, const Statement& y) { return same_variant(x.node, y.node); });
}

template <class Variant>
bool same_variant(const Variant& a, const Variant& b) {
  return std::visit(
      [&b](const auto& held) {
        const auto* other = std::get_if<std::remove_cvref_t<decltype(held)>>(&b);
        return other != nullptr && same(held, *other);
      },
      a);
}
}  // namespace

bool equal(const Expr& a, const Expr& b) { return same_variant(a.node, b.node); }

bool equal(const Program& a, const Program& b) {
  return a.answers == b.answers && a.slots == b.slots && same(a.body, b.body);
}

bool is_minus_one(const Expr& expr) {
  const Unary* unary = std::get_if<Unary>(&expr.node);
  if (unary == nullptr || unary->op != UnaryOp::minus) return false;
  const Number* number = std::get_if<Number>(&unary->operand->node);
  return number != nullptr && number->value == 1;
}

}  // namespace faultline::program
