#pragma once

#include "machine/machine.h"
#include "mm/profile.h"

namespace faultline::check {

/// The profile with the policy that depends on how the machine's kernel was built, not on its version: without
/// soft-dirty bits (CONFIG_MEM_SOFT_DIRTY) where it shows none. Runs a program of two lines to see.
mm::Profile as_built(const mm::Profile& profile, machine::Machine& machine);

}  // namespace faultline::check
