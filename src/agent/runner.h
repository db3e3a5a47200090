#pragma once

#include <span>

#include "agent/meter.h"
#include "run/message.h"
#include "run/plan.h"

namespace faultline::agent {

/// Runs a program in the calling process, which is a forked one, and does not return. All that is found goes to the
/// ledger in `memory`, which the parent shares.
[[noreturn]] void run_program(const run::Request& request, const run::Plan& plan, const Meter& meter,
                              std::span<std::byte> memory);

}  // namespace faultline::agent
