#pragma once

#include <string_view>
#include <vector>

#include "check/coverage.h"

namespace faultline::check {

/// The name of a cell's operation: a call, an access, "child" or "exit".
std::string operation_name(const Operation& operation);
/// The argument that decides most about it, as a program writes it: advice, flags, protection. Empty where none does.
std::string deciding_argument(const Operation& operation);

/// Every cell that a run should reach, whatever the profile.
std::vector<Cell> expected_cells();

/// Why a profile cannot reach a cell, or the checker does not try; empty when it should have.
std::string_view why_unreachable(const mm::Profile& profile, const Cell& cell);

}  // namespace faultline::check
