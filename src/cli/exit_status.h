#pragma once

#include <cstdint>

#include "run/row.h"

namespace faultline::cli {

/// What `faultline` exits with. Higher is worse; of several the worst counts.
enum class ExitStatus : std::uint8_t {
  ok = 0,
  failed = 1,         // an expectation did not hold, or the program was killed or stopped by the time limit
  misuse = 2,         // the program, the command line or the machine cannot be used as asked
  interrupted = 130,  // by SIGINT, as shells say it; what was obtained until then was printed
};

constexpr ExitStatus worse(ExitStatus a, ExitStatus b) { return a < b ? b : a; }

/// The status for one machine's run.
ExitStatus status_of(const run::Report& report);

}  // namespace faultline::cli
