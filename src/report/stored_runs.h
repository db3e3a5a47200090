#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "report/comparison.h"

namespace faultline::report {

/// A run as a JSON file tells it: of its report, the machine, the kernel and the rows.
struct StoredRun {
  std::string program;
  std::vector<ParamValue> params;
  run::Report report;
};

/// Reads what `faultline run --json` writes (report/json.h). JSON of Google Benchmark alone is read too: each benchmark
/// becomes a row in nanoseconds whose samples are the real times of its repetitions ("iteration" entries; one without
/// repetitions is one sample), in a single run of no program on the machine "benchmark".
///
/// The error says what is wrong and where in the document; it never throws, whatever the text holds.
std::expected<std::vector<StoredRun>, std::string> read_runs(std::string_view text);

}  // namespace faultline::report
