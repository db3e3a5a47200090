#include "cli/exit_status.h"

#include <algorithm>

namespace faultline::cli {

ExitStatus status_of(const run::Report& report) {
  switch (report.ending) {
    case run::Ending::unsupported:
    case run::Ending::misuse:
    case run::Ending::failed:
      return ExitStatus::misuse;
    case run::Ending::interrupted:
      return ExitStatus::interrupted;
    case run::Ending::signal:
    case run::Ending::timeout:
      return ExitStatus::failed;
    case run::Ending::completed:
      break;
  }
  const bool all_held = std::ranges::none_of(
      report.checks, [](const run::Check& check) { return check.status == run::CheckStatus::failed; });
  return all_held ? ExitStatus::ok : ExitStatus::failed;
}

}  // namespace faultline::cli
