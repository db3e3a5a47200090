#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/vm/profile.h"
#include "run/marks.h"
#include "run/row.h"

namespace faultline::machine::vm {

/// Interrupts that were told apart from the operations that they hit.
struct Interrupts {
  std::uint64_t windows = 0;       // that were hit
  std::uint64_t instructions = 0;  // in them
};

/// Completes the samples of a report, which so far are the instructions of the operations in user mode, by what the
/// plugin counted in kernel mode. A row whose windows do not fit its samples (threads ran into each other) loses them,
/// and a note says so. `seen` is what the plugin could count: exceptions (page faults; what the agent could derive
/// knows nothing of those that failed), ipis.
Interrupts add_counted(run::Report& report, const std::vector<run::WindowRecord>& records, CounterSet seen);

/// Gives the rows of a report, completed by add_counted, the paths of calls in them. `names` are those of the
/// functions; the program's own instructions are the path "(program)".
void add_paths(run::Report& report, const std::vector<CallNode>& nodes, const std::vector<std::string>& names);

}  // namespace faultline::machine::vm
