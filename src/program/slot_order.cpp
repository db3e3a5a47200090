#include "program/slot_order.h"

#include <optional>
#include <utility>

namespace faultline::program {
namespace {

class SlotOrder {
 public:
  explicit SlotOrder(std::size_t slots) : new_slots_(slots) {}

  void bind(const Block& block) {
    for (const Statement& statement : block) {
      if (const auto* call = std::get_if<SystemCall>(&statement.node); call != nullptr && call->result_slot) {
        if (auto& slot = new_slots_[call->result_slot->index]; !slot) slot = Slot{next_++};
      } else if (const auto* child = std::get_if<Child>(&statement.node)) {
        bind(child->body);
      }
    }
  }

  void apply(Block& block) const {
    for (Statement& statement : block) {
      if (auto* call = std::get_if<SystemCall>(&statement.node)) {
        if (call->result_slot) call->result_slot = new_slots_[call->result_slot->index];
        for (const ExprPtr& argument : call->arguments) apply(*argument);
      } else if (auto* access = std::get_if<Access>(&statement.node)) {
        for (const ExprPtr* part :
             {&access->address, &access->length, &access->stride, &access->value, &access->text}) {
          if (*part != nullptr) apply(**part);
        }
      } else if (auto* child = std::get_if<Child>(&statement.node)) {
        apply(child->body);
      }
    }
  }

  /// Names that nothing binds go.
  std::vector<std::string> names(std::vector<std::string>& old) const {
    std::vector<std::string> names(next_);
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (new_slots_[i]) names[new_slots_[i]->index] = std::move(old[i]);
    }
    return names;
  }

 private:
  void apply(Expr& expr) const {
    if (auto* variable = std::get_if<Variable>(&expr.node)) {
      variable->slot = *new_slots_[variable->slot.index];
    } else if (auto* unary = std::get_if<Unary>(&expr.node)) {
      apply(*unary->operand);
    } else if (auto* binary = std::get_if<Binary>(&expr.node)) {
      apply(*binary->left);
      apply(*binary->right);
    }
  }

  std::vector<std::optional<Slot>> new_slots_;
  std::uint32_t next_ = 0;
};

}  // namespace

void order_slots(Program& program) {
  SlotOrder order(program.slots.size());
  order.bind(program.body);
  order.apply(program.body);
  program.slots = order.names(program.slots);
}

}  // namespace faultline::program
