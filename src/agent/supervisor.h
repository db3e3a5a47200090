#pragma once

#include "agent/meter.h"
#include "run/message.h"
#include "run/row.h"

namespace faultline::agent {

/// Runs a program in a process of its own, and ends that process and all that it has started, whatever they do.
run::Report supervise(const run::Request& request, const Meter& meter);

}  // namespace faultline::agent
