#include "record/rewrite.h"

#include <memory>

namespace faultline::record {

using program::Statement;
using program::Sys;

std::optional<std::uint64_t> constant(const program::ExprPtr& expr) {
  if (expr == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<program::Number>(&expr->node)) return number->value;
  if (const auto* named = std::get_if<program::NamedConstant>(&expr->node)) return named->value;
  if (const auto* unary = std::get_if<program::Unary>(&expr->node); unary && unary->op == program::UnaryOp::minus) {
    const auto operand = constant(unary->operand);
    return operand ? std::optional(0 - *operand) : std::nullopt;
  }
  if (const auto* binary = std::get_if<program::Binary>(&expr->node);
      binary && binary->op == program::BinaryOp::bit_or) {
    const auto left = constant(binary->left);
    const auto right = constant(binary->right);
    return left && right ? std::optional(*left | *right) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Asked> asked(Statement& statement) {
  auto* call = std::get_if<program::SystemCall>(&statement.node);
  if (call == nullptr || call->arguments.size() < 2) return std::nullopt;
  const auto address = constant(call->arguments[0]);
  const auto length = constant(call->arguments[1]);
  if (!address || !length || *length == 0 || *length > ~*address - kPageSize) return std::nullopt;
  Asked result{call, *address, *length, {Addr{*address}.page_floor(), Addr{page_ceil(*address + *length)}}};
  const bool protects = call->sys == Sys::mmap || call->sys == Sys::mprotect || call->sys == Sys::pkey_mprotect;
  if (protects && call->arguments.size() > 2) {
    if (const auto prot = constant(call->arguments[2])) result.protection = static_cast<Prot>(*prot);
  }
  return result;
}

bool is_mapping(const Origin& origin, const Statement& statement) {
  const auto* call = std::get_if<program::SystemCall>(&statement.node);
  return !origin.is_call && call != nullptr && call->sys != Sys::read;
}

void survive_signals(Statement& statement) {
  auto* access = std::get_if<program::Access>(&statement.node);
  if (access == nullptr || access->assertion) return;
  program::ExprPtr zero = std::make_unique<program::Expr>(statement.position, program::Number{0, "0"});
  access->assertion = program::ExpectValue{std::move(zero)};
}

}  // namespace faultline::record
