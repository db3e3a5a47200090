#pragma once

#include "machine/machine.h"
#include "mm/profile.h"

namespace faultline::check {

/// The profile with the policies that depend on how the machine's kernel was built and on its processor, not on the
/// version: no soft-dirty bits (CONFIG_MEM_SOFT_DIRTY), no protection keys and no zero page where it shows none, and
/// execute-only memory where there is such. Runs short programs to see.
mm::Profile as_built(const mm::Profile& profile, machine::Machine& machine);

}  // namespace faultline::check
