#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "cli/exit_status.h"
#include "cli/source.h"
#include "mm/profile.h"

namespace faultline::cli {

/// What is said of a recording.
struct ReportOutput {
  std::string model;
  std::size_t top = 12;  // lines of each table
  std::string json;      // empty: text
  double time_limit = 60;
};

/// `--on`, `--top`, `--json` and `--time-limit`.
void add_report_output(CLI::App& command, ReportOutput& output);

/// Runs one process of a recording on a model and prints the summary of what that shows.
ExitStatus print_summary(const RecordingFile& file, const mm::Profile& profile, const ReportOutput& output);

}  // namespace faultline::cli
