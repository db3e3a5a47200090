#pragma once

#include <cstddef>
#include <vector>

#include "export/descriptors.h"
#include "export/trace.h"

namespace faultline::exports {

/// The events before the last chosen one, or the first of their kind among them, that may have a share in what the
/// chosen ones do: what worked on the same memory or on what lies beside it, what holds for a whole process, and forks.
/// In their order, without the chosen ones and without what sets up files.
std::vector<std::size_t> relevant_events(const std::vector<Event>& events, const Descriptors& descriptors);

/// The ranges that an operation works on: of mremap the old and the new one.
std::vector<Range> ranges_of(const Event& event);

}  // namespace faultline::exports
