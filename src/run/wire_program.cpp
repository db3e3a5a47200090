#include "run/wire_program.h"

#include <utility>

namespace faultline::run {
namespace {

using namespace program;

// One overload of `part` per type of the tree, each naming its fields in order.

template <class Archive>
void part(Archive& a, Expr& expr);
template <class Archive>
void part(Archive& a, Statement& statement);

template <class Archive>
void part(Archive& a, Slot& slot) {
  transfer(a, slot.index);
}

/// A pointer that may be null where the language lets the operand out.
template <class Archive>
void part(Archive& a, ExprPtr& pointer) {
  bool present = pointer != nullptr;
  transfer_number(a, present, 1);
  if constexpr (Archive::kReading) {
    if (!present || !a.enter()) return;
    pointer = std::make_unique<Expr>();
    part(a, *pointer);
    a.leave();
  } else {
    if (present) part(a, *pointer);
  }
}

template <class Archive>
void part(Archive& a, Block& block) {
  transfer_list(a, block, [](Archive& inner, Statement& s) { part(inner, s); });
}
template <class Archive>
void part(Archive& a, std::vector<ExprPtr>& list) {
  transfer_list(a, list, [](Archive& inner, ExprPtr& e) { part(inner, e); });
}

template <class Archive>
void part(Archive& a, Number& n) {
  transfer(a, n.value);
  transfer(a, n.text);
}
template <class Archive>
void part(Archive& a, NamedConstant& n) {
  transfer(a, n.value);
  transfer(a, n.name);
}
template <class Archive>
void part(Archive& a, Variable& v) {
  part(a, v.slot);
  transfer(a, v.name);
}
template <class Archive>
void part(Archive& a, StringLiteral& s) {
  transfer(a, s.value);
}
template <class Archive>
void part(Archive& a, Unary& u) {
  transfer_enum(a, u.op, UnaryOp::logical_not);
  part(a, u.operand);
}
template <class Archive>
void part(Archive& a, Binary& b) {
  transfer_enum(a, b.op, BinaryOp::logical_or);
  part(a, b.left);
  part(a, b.right);
}
template <class Archive>
void part(Archive& a, Probe& p) {
  transfer_enum(a, p.kind, ProbeKind::count);
  part(a, p.arguments);
  transfer(a, p.counter);
  transfer(a, p.measure);
}

template <class Archive>
void part(Archive& a, ExpectValue& e) {
  part(a, e.value);
}
template <class Archive>
void part(Archive& a, ExpectErrno& e) {
  transfer(a, e.error);
}
template <class Archive>
void part(Archive& a, ExpectSignal& e) {
  transfer(a, e.number);
  transfer_optional(a, e.code, [](Archive& inner, int& code) { transfer(inner, code); });
}
template <class Archive>
void part(Archive& a, std::optional<ResultAssertion>& assertion) {
  transfer_optional(a, assertion, [](Archive& inner, ResultAssertion& variant) {
    transfer_variant(inner, variant, [](Archive& innermost, auto& node) { part(innermost, node); });
  });
}

template <class Archive>
void part(Archive& a, Param& p) {
  part(a, p.slot);
  transfer(a, p.name);
  part(a, p.value);
}
template <class Archive>
void part(Archive& a, Let& l) {
  part(a, l.slot);
  transfer(a, l.name);
  part(a, l.value);
  transfer_number(a, l.rebinds, 1);
}
template <class Archive>
void part(Archive& a, SystemCall& c) {
  transfer_optional(a, c.result_slot, [](Archive& inner, Slot& slot) { part(inner, slot); });
  transfer(a, c.result_name);
  transfer_number(a, c.sys, std::to_underlying(Sys::count_) - 1);
  part(a, c.arguments);
  part(a, c.assertion);
}
template <class Archive>
void part(Archive& a, Access& x) {
  transfer_enum(a, x.kind, AccessKind::fetch);
  for (ExprPtr* e : {&x.address, &x.length, &x.stride, &x.value, &x.text}) part(a, *e);
  part(a, x.assertion);
}
template <class Archive>
void part(Archive& a, PlaceCode& p) {
  part(a, p.address);
}
template <class Archive>
void part(Archive& a, Repeat& r) {
  part(a, r.count);
  part(a, r.body);
}
template <class Archive>
void part(Archive& a, For& f) {
  part(a, f.slot);
  transfer(a, f.name);
  part(a, f.first);
  part(a, f.limit);
  part(a, f.body);
}
template <class Archive>
void part(Archive& a, Measure& m) {
  transfer(a, m.name);
  part(a, m.count);
  part(a, m.body);
}
template <class Archive>
void part(Archive& a, Child& c) {
  transfer(a, c.name);
  part(a, c.body);
}
template <class Archive>
void part(Archive& a, ExitChild& e) {
  transfer(a, e.name);
}
template <class Archive>
void part(Archive& a, Threads& t) {
  part(a, t.slot);
  part(a, t.count);
  part(a, t.body);
}
template <class Archive>
void part(Archive& a, MachinePattern& p) {
  transfer(a, p.kind);
  transfer_optional(a, p.arch, [](Archive& inner, std::string& arch) { transfer(inner, arch); });
  transfer_enum(a, p.relation, MachinePattern::Relation::below);
  transfer(a, p.version);
  transfer(a, p.policies);
}
template <class Archive>
void part(Archive& a, Expect& e) {
  part(a, e.condition);
  transfer_list(a, e.machines, [](Archive& inner, MachinePattern& p) { part(inner, p); });
}

template <class Archive>
void part(Archive& a, Expr& expr) {
  transfer(a, expr.position);
  transfer_variant(a, expr.node, [](Archive& inner, auto& node) { part(inner, node); });
}
template <class Archive>
void part(Archive& a, Statement& statement) {
  transfer(a, statement.position);
  transfer(a, statement.text);
  transfer_variant(a, statement.node, [](Archive& inner, auto& node) { part(inner, node); });
}

template <class Archive>
void whole(Archive& a, Program& program) {
  transfer(a, program.name);
  transfer(a, program.answers);
  transfer_list(a, program.slots, [](Archive& inner, std::string& name) { transfer(inner, name); });
  part(a, program.body);
}

template <class Archive>
void whole(Archive& a, MachineId& machine) {
  for (std::string* text : {&machine.kind, &machine.arch, &machine.version, &machine.policies}) transfer(a, *text);
}

}  // namespace

void transfer(Writer& writer, Program& program) { whole(writer, program); }
void transfer(Reader& reader, Program& program) { whole(reader, program); }
void transfer(Writer& writer, MachineId& machine) { whole(writer, machine); }
void transfer(Reader& reader, MachineId& machine) { whole(reader, machine); }

}  // namespace faultline::run
