#pragma once

#include <string>

#include "run/case.h"

namespace faultline::agent {

/// Plays each case in a process of its own, a fork of this one, and gives the records as a message. A case that does
/// not end in time is killed with all that it has started; what it reached until then is in its record.
std::string play_cases(const run::CasesRequest& request);

}  // namespace faultline::agent
