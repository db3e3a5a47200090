#pragma once

#include <optional>

#include "base/page.h"
#include "run/step.h"

namespace faultline::run {

/// The range that a step has worked on: for mmap and mremap where the mapping is now, else what its arguments name.
/// Nothing where they name none.
std::optional<Range> worked_on(const Step& step, const StepOutcome& outcome);

}  // namespace faultline::run
