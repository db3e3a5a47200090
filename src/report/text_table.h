#pragma once

#include <string>

#include "report/cell.h"
#include "report/comparison.h"
#include "report/style.h"

namespace faultline::report {

/// What `faultline run` prints: machines side by side, a line per operation and under it what was counted per call,
/// then the rows that were not compared and why, shapes, expectations and notes. Every figure stays in its machine's
/// own metric; `change` stands only where exactly two machines have comparable rows in the same one.
std::string text_table(const Comparison& comparison, Counted counted, Colour colour);

}  // namespace faultline::report
