#include "run/check.h"

#include <algorithm>

#include "run/evaluate.h"

namespace faultline::run {
namespace {

using namespace program;

std::string text(const CallOutcome& outcome) {
  if (outcome.error) return "-1 " + std::string(errno_name(*outcome.error));
  return value_text(outcome.value);
}

std::string text(const AccessOutcome& outcome) { return outcome.signal ? to_string(*outcome.signal) : "no signal"; }

std::string text(const ExpectSignal& expected) {
  std::string name(signal_name(expected.number));
  if (expected.code) name += " " + std::string(signal_code_name(expected.number, *expected.code));
  return name;
}

bool holds(const ExpectSignal& expected, const AccessOutcome& outcome) {
  return outcome.signal && outcome.signal->number == expected.number &&
         (!expected.code || outcome.signal->code == *expected.code);
}

}  // namespace

std::optional<std::string> contradiction(const ResultAssertion& asserted, std::optional<std::uint64_t> expected,
                                         const CallOutcome& outcome) {
  if (const auto* error = std::get_if<ExpectErrno>(&asserted)) {
    if (outcome.error && outcome.error->value == error->error) return std::nullopt;
    return "returned " + text(outcome) + ", expected -1 " + std::string(errno_name(Errno{error->error}));
  }
  if (std::holds_alternative<ExpectSignal>(asserted)) return "a system call does not end in a signal";
  // `= -1` without a name asserts a failure of any kind, as strace prints one.
  const bool any_error = expected == ~std::uint64_t{0} && outcome.error;
  if (any_error || (!outcome.error && outcome.value == expected)) return std::nullopt;
  return "returned " + text(outcome) + ", expected " + value_text(expected.value_or(0));
}

std::optional<std::string> contradiction(const ResultAssertion& asserted, std::optional<std::uint64_t> expected,
                                         const AccessOutcome& outcome) {
  if (const auto* signal = std::get_if<ExpectSignal>(&asserted)) {
    if (holds(*signal, outcome)) return std::nullopt;
    return "ended in " + text(outcome) + ", expected " + text(*signal);
  }
  if (!outcome.signal && expected == std::uint64_t{0}) return std::nullopt;
  return "ended in " + text(outcome) + ", expected no signal";
}

bool concerns(const Expect& expect, const MachineId& machine) {
  return expect.machines.empty() ||
         std::ranges::any_of(expect.machines, [&](const MachinePattern& p) { return p.matches(machine); });
}

}  // namespace faultline::run
