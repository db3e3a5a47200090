#include "program/strace_statement.h"

#include <array>
#include <bit>
#include <charconv>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/constants.h"
#include "program/printer.h"

namespace faultline::program {
namespace {

/// The constants of one prefix: of flags those of a single bit, ordered by it.
class Names {
 public:
  Names(std::string_view prefix, std::string_view zero) : zero_(zero) {
    for (const Constant& constant : constants()) {
      if (!constant.name.starts_with(prefix)) continue;
      values_.push_back(constant);
      const bool huge = constant.name.starts_with("MAP_HUGE_") || constant.name.starts_with("MFD_HUGE_");
      if (!std::has_single_bit(constant.value) || huge) continue;
      Constant& bit = bits_[static_cast<std::size_t>(std::countr_zero(constant.value))];
      if (bit.name.empty()) bit = constant;  // MAP_ANON comes behind MAP_ANONYMOUS
    }
  }

  std::string_view zero() const { return zero_; }
  const Constant* value(std::uint64_t value) const {
    for (const Constant& constant : values_) {
      if (constant.value == value) return &constant;
    }
    return nullptr;
  }
  std::span<const Constant> bits() const { return bits_; }

 private:
  std::string_view zero_;
  std::vector<Constant> values_;
  std::array<Constant, 64> bits_{};
};

const Names& names_of(Spelling spelling) {
  static const Names protection("PROT_", "PROT_NONE");
  static const Names map_flags("MAP_", "");
  static const Names advice("MADV_", "MADV_NORMAL");
  static const Names remap_flags("MREMAP_", "");
  static const Names sync_flags("MS_", "");
  static const Names lock_flags("MLOCK_", "");
  static const Names lockall_flags("MCL_", "");
  static const Names memfd_flags("MFD_", "");
  static const Names prctl_option("PR_", "");
  static const Names mdwe_flags("PR_MDWE_", "");
  switch (spelling) {
    case Spelling::protection:
      return protection;
    case Spelling::map_flags:
      return map_flags;
    case Spelling::remap_flags:
      return remap_flags;
    case Spelling::sync_flags:
      return sync_flags;
    case Spelling::lock_flags:
      return lock_flags;
    case Spelling::lockall_flags:
      return lockall_flags;
    case Spelling::memfd_flags:
      return memfd_flags;
    case Spelling::prctl_option:
      return prctl_option;
    case Spelling::mdwe_flags:
      return mdwe_flags;
    default:
      return advice;
  }
}

template <class Node>
ExprPtr make(Position position, Node node) {
  return ExprPtr(new Expr{position, std::move(node)});
}

ExprPtr number(Position position, std::uint64_t value, int base) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
  return make(position, Number{value, (base == 16 ? "0x" : "") + std::string(digits.data(), end)});
}

ExprPtr constant(Position position, std::string_view name, std::uint64_t value) {
  return make(position, NamedConstant{value, std::string(name)});
}

void add_flag(Position position, ExprPtr& flags, ExprPtr flag) {
  flags =
      flags == nullptr ? std::move(flag) : make(position, Binary{BinaryOp::bit_or, std::move(flags), std::move(flag)});
}

ExprPtr flags(Position position, const Names& names, std::uint64_t value) {
  if (value == 0) return names.zero().empty() ? number(position, 0, 10) : constant(position, names.zero(), 0);
  ExprPtr all;
  std::uint64_t rest = value;
  // The types of mappings are numbers, not bits.
  constexpr std::uint64_t kSharedValidate = 3;
  if (&names == &names_of(Spelling::map_flags) && (value & 15) == kSharedValidate) {
    add_flag(position, all, constant(position, "MAP_SHARED_VALIDATE", kSharedValidate));
    rest &= ~kSharedValidate;
  }
  for (const Constant& bit : names.bits()) {
    if (bit.name.empty() || (rest & bit.value) == 0) continue;
    add_flag(position, all, constant(position, bit.name, bit.value));
    rest &= ~bit.value;
  }
  if (rest != 0) add_flag(position, all, number(position, rest, 16));
  return all;
}

ExprPtr expression(Position position, SpelledArgument argument) {
  const std::uint64_t value = argument.value;
  switch (argument.spelling) {
    case Spelling::address:
      return value == 0 ? constant(position, "NULL", 0) : number(position, value, 16);
    case Spelling::number:
      // A length beyond any address space was written as a negative one, or is as good as one.
      if (value > ~std::uint64_t{0} >> 1) {
        return make(position, Unary{UnaryOp::minus, number(position, 0 - value, 10)});
      }
      return number(position, value, 10);
    case Spelling::text:
      return make(position, StringLiteral{std::string(argument.text)});
    case Spelling::variable:
      return make(position, Variable{Slot{static_cast<std::uint32_t>(value)}, std::string(argument.text)});
    case Spelling::advice:
    case Spelling::prctl_option: {
      const Constant* named = names_of(argument.spelling).value(value);
      return named == nullptr ? number(position, value, 10) : constant(position, named->name, value);
    }
    default:
      return flags(position, names_of(argument.spelling), value);
  }
}

Statement statement(Position position, Sys sys, std::initializer_list<SpelledArgument> arguments,
                    std::optional<ResultAssertion> assertion, std::optional<SpelledArgument> variable = {}) {
  SystemCall call;
  call.sys = sys;
  if (variable) {
    call.result_slot = Slot{static_cast<std::uint32_t>(variable->value)};
    call.result_name = variable->text;
  }
  call.arguments.reserve(arguments.size());
  for (const SpelledArgument& argument : arguments) call.arguments.push_back(expression(position, argument));
  call.assertion = std::move(assertion);
  Statement made;
  made.position = position;
  made.node = std::move(call);
  made.text = print_title(made);
  return made;
}

}  // namespace

std::string spelled(SpelledArgument argument) { return print(*expression({}, argument)); }

Statement call_statement(Position position, Sys sys, std::initializer_list<SpelledArgument> arguments) {
  return statement(position, sys, arguments, std::nullopt);
}

Statement call_statement(Position position, Sys sys, std::initializer_list<SpelledArgument> arguments,
                         SpelledArgument value) {
  return statement(position, sys, arguments, ExpectValue{expression(position, value)});
}

Statement call_statement(Position position, Sys sys, std::initializer_list<SpelledArgument> arguments, int error) {
  return statement(position, sys, arguments, ExpectErrno{error});
}

Statement call_statement_into(Position position, Sys sys, std::initializer_list<SpelledArgument> arguments,
                              SpelledArgument variable) {
  return statement(position, sys, arguments, std::nullopt, variable);
}

}  // namespace faultline::program
