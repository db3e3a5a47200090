#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "record/import.h"
#include "report/recording_study.h"
#include "report/style.h"
#include "run/row.h"

namespace faultline::report {

/// What is known of a recording once a model has run it.
struct RecordingReport {
  const record::Import& recording;
  const record::RecordedProcess& process;
  const StudyFigures& figures;
  const run::Report& run;
  std::uint64_t bytes = 0;  // of the recording
};

/// Memory calls after which the VMAs would reach their limit, if they grew on as in the second half of the recording.
std::optional<std::uint64_t> calls_until_limit(const StudyFigures& figures);

/// For a terminal: faults by kind, calls by site, faults by site, VMAs over time, changes of protection. No more than
/// `most` lines of each, those that matter most.
std::string recording_text(const RecordingReport& report, std::size_t most, Colour colour);

/// All of it, for programs. Ends with a newline.
std::string recording_json(const RecordingReport& report);

}  // namespace faultline::report
