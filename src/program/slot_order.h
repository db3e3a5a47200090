#pragma once

#include "program/program.h"

namespace faultline::program {

/// Numbers the variables of a program in the order in which its text binds them, as the parser does. An import makes
/// them in the order in which things happened, and what a child did stands where it was forked. For programs of system
/// calls, accesses and children, without probes.
void order_slots(Program& program);

}  // namespace faultline::program
