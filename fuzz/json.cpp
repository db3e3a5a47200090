// Recorded runs: any text is read or refused with a reason, and the figures that are read are numbers.
#include <cmath>
#include <cstdint>

#include "holds.h"
#include "report/stored_runs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const auto runs = report::read_runs(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!runs) {
    fuzz::holds(!runs.error().empty(), "a refusal has a reason");
    return 0;
  }
  for (const report::StoredRun& run : *runs) {
    for (const run::Row& row : run.report.rows) {
      for (const double sample : row.samples) fuzz::holds(std::isfinite(sample), "a sample is a finite number");
    }
  }
  return 0;
}
