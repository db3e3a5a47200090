#pragma once

#include <optional>
#include <string>

#include "mm/mm.h"

namespace faultline::mm {

/// Walks the whole state of an address space and returns the first invariant that does not hold, in words. A frame's
/// references are compared with the PTEs of this address space only: with forked relatives alive they may be more,
/// never fewer.
std::optional<std::string> find_violation(const Mm& mm);

}  // namespace faultline::mm
