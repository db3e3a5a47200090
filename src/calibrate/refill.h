#pragma once

#include "run/row.h"

namespace faultline::calibrate {

/// What the row's executions spent on average on the kernel's stocks: lists of free pages and of objects, which are
/// filled and emptied many at a time, and blocks of random numbers. Which call pays for that is a matter of what ran
/// before it, not of what it does. The row has to have its paths.
double restocking(const run::Row& row);

}  // namespace faultline::calibrate
