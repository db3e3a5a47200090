#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "program/program.h"
#include "run/kernel.h"

namespace faultline::run {

/// What contradicts a trailing assertion, nothing when it holds: "returned -1 ENOMEM, expected 0".
/// `expected` is the value of an ExpectValue.
std::optional<std::string> contradiction(const program::ResultAssertion& asserted,
                                         std::optional<std::uint64_t> expected, const CallOutcome& outcome);
std::optional<std::string> contradiction(const program::ResultAssertion& asserted,
                                         std::optional<std::uint64_t> expected, const AccessOutcome& outcome);

/// Does the expectation concern this machine? One without patterns concerns all.
bool concerns(const program::Expect& expect, const program::MachineId& machine);

}  // namespace faultline::run
