#pragma once

#include <span>

#include "agent/clock.h"
#include "run/message.h"
#include "run/plan.h"

namespace faultline::agent {

/// Runs a program in the calling process, which is a forked one, and does not return. All that is found goes to the
/// ledger in `memory`, which the parent shares.
[[noreturn]] void run_program(const run::Request& request, const run::Plan& plan, const Clock& clock,
                              std::span<std::byte> memory);

}  // namespace faultline::agent
