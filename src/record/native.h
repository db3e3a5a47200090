#pragma once

#include <expected>
#include <string>
#include <vector>

#include "record/recording.h"

namespace faultline::record {

/// Runs a command by itself, with /dev/null for its input and output and without randomized addresses, and gives what
/// the kernel counted: getrusage(2) always, perf_event_open(2) where it is permitted. The first word is a path.
std::expected<Native, std::string> run_natively(const std::vector<std::string>& command);

}  // namespace faultline::record
