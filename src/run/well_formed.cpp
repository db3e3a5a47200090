#include <algorithm>
#include <type_traits>

#include "run/wire_program.h"

namespace faultline::run {
namespace {

using namespace program;

class Inspector {
 public:
  explicit Inspector(const Program& program) : slots_(program.slots.size()) {}

  bool block(const Block& statements) const {
    return std::ranges::all_of(statements, [&](const Statement& s) {
      return std::visit([&](const auto& node) { return good(node); }, s.node);
    });
  }

 private:
  bool good(Slot slot) const { return slot.index < slots_; }
  bool required(const ExprPtr& expr) const { return expr != nullptr && good(*expr); }
  bool optional(const ExprPtr& expr) const { return expr == nullptr || good(*expr); }
  bool all(const std::vector<ExprPtr>& list) const {
    return std::ranges::all_of(list, [&](const ExprPtr& e) { return required(e); });
  }
  bool good(const std::optional<ResultAssertion>& assertion) const {
    const auto* value = assertion ? std::get_if<ExpectValue>(&*assertion) : nullptr;
    return value == nullptr || required(value->value);
  }

  bool good(const Expr& expr) const {
    return std::visit(
        [&](const auto& node) {
          using Node = std::decay_t<decltype(node)>;
          if constexpr (std::is_same_v<Node, Variable>) return good(node.slot);
          if constexpr (std::is_same_v<Node, Unary>) return required(node.operand);
          if constexpr (std::is_same_v<Node, Binary>) return required(node.left) && required(node.right);
          if constexpr (std::is_same_v<Node, Probe>) return all(node.arguments);
          return true;
        },
        expr.node);
  }

  bool good(const Param& p) const { return good(p.slot) && required(p.value); }
  bool good(const Let& l) const { return good(l.slot) && required(l.value); }
  bool good(const SystemCall& c) const {
    return (!c.result_slot || good(*c.result_slot)) && all(c.arguments) && good(c.assertion);
  }
  bool good(const Access& a) const {
    return required(a.address) && optional(a.length) && optional(a.stride) && optional(a.value) && optional(a.text) &&
           good(a.assertion);
  }
  bool good(const PlaceCode& p) const { return required(p.address); }
  bool good(const Repeat& r) const { return required(r.count) && block(r.body); }
  bool good(const For& f) const { return good(f.slot) && required(f.first) && required(f.limit) && block(f.body); }
  bool good(const Measure& m) const { return optional(m.count) && block(m.body); }
  bool good(const Child& c) const { return block(c.body); }
  bool good(const ExitChild&) const { return true; }
  bool good(const Threads& t) const { return good(t.slot) && required(t.count) && block(t.body); }
  bool good(const Expect& e) const { return required(e.condition); }

  std::size_t slots_;
};

}  // namespace

bool well_formed(const Program& program) { return Inspector(program).block(program.body); }

}  // namespace faultline::run
