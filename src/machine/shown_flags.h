#pragma once

#include <cstdint>

#include "mm/profile.h"
#include "mm/vma.h"

namespace faultline::machine {

/// What smaps of the profile's kernel shows of a mapping's flags, as a set of base/vm_flags.h.
std::uint64_t shown_flags(const mm::Profile& profile, mm::VmFlags flags);

}  // namespace faultline::machine
