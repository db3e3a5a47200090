#include "program/copy.h"

#include <memory>
#include <utility>

namespace faultline::program {
namespace {

std::vector<ExprPtr> copies(const std::vector<ExprPtr>& expressions) {
  std::vector<ExprPtr> result;
  result.reserve(expressions.size());
  for (const ExprPtr& expr : expressions) result.push_back(copy(expr));
  return result;
}

struct CopyNode {
  Number operator()(const Number& node) const { return node; }
  NamedConstant operator()(const NamedConstant& node) const { return node; }
  Variable operator()(const Variable& node) const { return node; }
  StringLiteral operator()(const StringLiteral& node) const { return node; }
  Unary operator()(const Unary& node) const { return {node.op, copy(node.operand)}; }
  Binary operator()(const Binary& node) const { return {node.op, copy(node.left), copy(node.right)}; }
  Probe operator()(const Probe& node) const { return {node.kind, copies(node.arguments), node.counter, node.measure}; }
};

struct CopyAssertion {
  ResultAssertion operator()(const ExpectValue& node) const { return ExpectValue{copy(node.value)}; }
  ResultAssertion operator()(const ExpectErrno& node) const { return node; }
  ResultAssertion operator()(const ExpectSignal& node) const { return node; }
};

std::optional<ResultAssertion> copy_assertion(const std::optional<ResultAssertion>& assertion) {
  if (!assertion) return std::nullopt;
  return std::visit(CopyAssertion(), *assertion);
}

struct CopyStatement {
  Param operator()(const Param& node) const { return {node.slot, node.name, copy(node.value)}; }
  Let operator()(const Let& node) const { return {node.slot, node.name, copy(node.value), node.rebinds}; }
  SystemCall operator()(const SystemCall& node) const {
    return {node.result_slot, node.result_name, node.sys, copies(node.arguments), copy_assertion(node.assertion)};
  }
  Access operator()(const Access& node) const {
    return {node.kind,
            copy(node.address),
            copy(node.length),
            copy(node.stride),
            copy(node.value),
            copy(node.text),
            copy_assertion(node.assertion)};
  }
  PlaceCode operator()(const PlaceCode& node) const { return {copy(node.address)}; }
  Repeat operator()(const Repeat& node) const { return {copy(node.count), copy(node.body)}; }
  For operator()(const For& node) const {
    return {node.slot, node.name, copy(node.first), copy(node.limit), copy(node.body)};
  }
  Measure operator()(const Measure& node) const { return {node.name, copy(node.count), copy(node.body)}; }
  Child operator()(const Child& node) const { return {node.name, copy(node.body)}; }
  ExitChild operator()(const ExitChild& node) const { return node; }
  Threads operator()(const Threads& node) const { return {node.slot, copy(node.count), copy(node.body)}; }
  Expect operator()(const Expect& node) const { return {copy(node.condition), node.machines}; }
};

}  // namespace

ExprPtr copy(const ExprPtr& expr) {
  if (expr == nullptr) return nullptr;
  return std::visit([&](const auto& node) { return std::make_unique<Expr>(expr->position, CopyNode()(node)); },
                    expr->node);
}

Statement copy(const Statement& statement) {
  return std::visit(
      [&](const auto& node) { return Statement{statement.position, statement.text, CopyStatement()(node)}; },
      statement.node);
}

Block copy(const Block& block) {
  Block result;
  result.reserve(block.size());
  for (const Statement& statement : block) result.push_back(copy(statement));
  return result;
}

Program copy(const Program& program) { return {program.name, program.answers, program.slots, copy(program.body)}; }

}  // namespace faultline::program
