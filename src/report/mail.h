#pragma once

#include <string>
#include <string_view>

#include "report/cell.h"
#include "report/comparison.h"

namespace faultline::report {

/// A comparison as it stands in a mail or a commit message: ASCII, no line longer than 75 columns; what is measured
/// (or, where the program measures nothing, every operation), the kernels' releases, what was counted, and the command
/// to reproduce it. Machines that do not fit beside each other stand in further tables.
std::string mail_text(const Comparison& comparison, Counted counted, std::string_view command);

}  // namespace faultline::report
