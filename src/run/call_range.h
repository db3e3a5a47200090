#pragma once

#include <optional>

#include "base/page.h"
#include "run/kernel.h"

namespace faultline::run {

/// The range that a call names before it is made, nothing where it names none (an mmap that lets the kernel choose).
std::optional<Range> range_before(const CallRequest& call);
/// The range that it has worked on: for mmap and mremap, where the mapping is now.
std::optional<Range> range_after(const CallRequest& call, const CallOutcome& outcome);
/// The range that the accesses cover.
std::optional<Range> range_of(const AccessRequest& access);

}  // namespace faultline::run
