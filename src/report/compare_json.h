#pragma once

#include <string>

#include "report/compare_text.h"

namespace faultline::report {

/// A comparison as JSON: `sides`, `confidence`, `correction`, `tested`, counts of each verdict, and `runs`, each with
/// both programs, machines and kernels, its parameters, and `rows`: line, operation, metric, both summaries with the
/// median's interval, the difference of means with Welch's interval (absolute and in percent), the tests, what was
/// counted differently, the verdict or why there is none. Ends with a newline.
std::string compare_json(const RunComparison& comparison, const SideNames& names);

}  // namespace faultline::report
