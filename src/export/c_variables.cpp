#include "export/c_variables.h"

#include <algorithm>
#include <type_traits>

#include "export/c_expression.h"
#include "export/c_parts.h"

namespace faultline::exports {

using namespace program;  // whose tree it walks

namespace {

/// Calls `visit(Slot)` for each variable of an expression.
template <class Visit>
void each_variable(const Expr& expr, const Visit& visit) {
  if (const auto* variable = std::get_if<Variable>(&expr.node)) {
    visit(variable->slot);
  } else if (const auto* unary = std::get_if<Unary>(&expr.node)) {
    each_variable(*unary->operand, visit);
  } else if (const auto* binary = std::get_if<Binary>(&expr.node)) {
    each_variable(*binary->left, visit);
    each_variable(*binary->right, visit);
  } else if (const auto* probe = std::get_if<Probe>(&expr.node)) {
    for (const ExprPtr& argument : probe->arguments) each_variable(*argument, visit);
  }
}

/// Where variables are read and bound. `kept` says whether a variable is read anywhere: what is bound to one that is
/// not is left out.
template <class Read, class Bind, class Kept>
class Walk {
 public:
  Walk(Read read, Bind bind, Kept kept) : read_(read), bind_(bind), kept_(kept) {}

  void block(const Block& block) const {
    for (const Statement& statement : block) {
      std::visit([this](const auto& node) { this->visit(node); }, statement.node);
    }
  }

 private:
  void expr(const ExprPtr& expr) const {
    if (expr != nullptr) each_variable(*expr, read_);
  }
  void value_of(Slot slot, const ExprPtr& value) const {
    bind_(slot);
    if (kept_(slot)) expr(value);
  }
  void assertion(const std::optional<ResultAssertion>& assertion) const {
    if (!assertion) return;
    if (const auto* value = std::get_if<ExpectValue>(&*assertion)) expr(value->value);
  }

  void visit(const Param& param) const { value_of(param.slot, param.value); }
  void visit(const Let& let) const { value_of(let.slot, let.value); }
  void visit(const SystemCall& call) const {
    for (const ExprPtr& argument : call.arguments) expr(argument);
    assertion(call.assertion);
    if (call.result_slot) bind_(*call.result_slot);
  }
  void visit(const Access& access) const {
    for (const ExprPtr* part : {&access.address, &access.length, &access.stride, &access.value, &access.text}) {
      expr(*part);
    }
    assertion(access.assertion);
  }
  void visit(const PlaceCode& code) const { expr(code.address); }
  void visit(const Repeat& repeat) const {
    expr(repeat.count);
    block(repeat.body);
  }
  void visit(const For& loop) const {
    expr(loop.first);
    expr(loop.limit);
    bind_(loop.slot);
    block(loop.body);
  }
  void visit(const Measure& measure) const {
    expr(measure.count);
    block(measure.body);
  }
  void visit(const Child& child) const { block(child.body); }
  void visit(const ExitChild&) const {}
  void visit(const Threads& threads) const {
    expr(threads.count);
    bind_(threads.slot);
    block(threads.body);
  }
  void visit(const Expect& expect) const {
    if (concerns_live(expect) && untellable(*expect.condition).empty()) expr(expect.condition);
  }

  Read read_;
  Bind bind_;
  Kept kept_;
};

}  // namespace

bool concerns_live(const Expect& expect) {
  return expect.machines.empty() || std::ranges::any_of(expect.machines, [](const MachinePattern& pattern) {
           return pattern.kind == "live" && pattern.policies.empty();
         });
}

CVariables::CVariables(const Program& program) {
  std::set<std::string> taken;
  for (const std::string& slot : program.slots) {
    std::string name = is_reserved_in_c(slot) ? slot + "_" : slot;
    for (unsigned n = 2; taken.contains(name); ++n) name = slot + "_" + std::to_string(n);
    taken.insert(name);
    names_.push_back(std::move(name));
  }
  // What is read only for a value that nobody reads is not read: until nothing is added.
  std::size_t before = 0;
  do {
    before = read_.size();
    Walk([this](Slot slot) { read_.insert(slot.index); }, [](Slot) {}, [this](Slot slot) { return is_read(slot); })
        .block(program.body);
  } while (read_.size() != before);
}

std::vector<Slot> CVariables::mentioned(const Block& block) const {
  std::set<std::uint32_t> seen;
  std::vector<Slot> slots;
  const auto mention = [&](Slot slot) {
    if (is_read(slot) && seen.insert(slot.index).second) slots.push_back(slot);
  };
  Walk(mention, mention, [this](Slot slot) { return is_read(slot); }).block(block);
  return slots;
}

}  // namespace faultline::exports
