#pragma once

#include <memory>

#include "machine/machine.h"

namespace faultline::machine {

/// The kernel of this machine, by way of the agent.
std::unique_ptr<Machine> make_live();

}  // namespace faultline::machine
