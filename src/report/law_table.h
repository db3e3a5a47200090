#pragma once

#include <span>
#include <string>

#include "report/comparison.h"
#include "report/style.h"

namespace faultline::report {

/// What a sweep says about the cost of each operation: figure = fixed + a·pages + b·VMAs, fitted for every machine over
/// all comparisons, which are of one program with different parameters. Pages are the present ones of the range that
/// the operation names, before it or after it, whichever are more; VMAs alike. What does not vary is part of the fixed
/// cost. The largest residual stands beside; measured times have intervals, counted instructions none. Operations
/// without any figures, or of one shape only, are left out.
std::string law_table(std::span<const Comparison> comparisons, Colour colour);

}  // namespace faultline::report
