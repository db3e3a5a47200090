#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/import.h"
#include "report/answers.h"
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
  /// ru_minflt of all its processes on the model, where the kernel's own count is recorded.
  std::optional<std::uint64_t> all_faults = {};
};

/// Memory calls after which the VMAs would reach their limit, if they grew on as in the second half of the recording.
std::optional<std::uint64_t> calls_until_limit(const StudyFigures& figures);

/// The VMAs over time as a picture, the limit, and when it is reached.
std::string vma_lines(const StudyFigures& figures);

/// A question and what came of it.
struct Asked {
  Question question{};
  Answer answer;
};

/// For a terminal, what was asked; without a question a summary: faults by kind, calls by site, faults by site, VMAs
/// over time, changes of protection. No more than `most` lines of each table, those that matter most.
std::string recording_text(const RecordingReport& report, const std::vector<Asked>& asked, std::size_t most,
                           Colour colour);

/// All of that, for programs, on one line. Ends with a newline.
std::string recording_json(const RecordingReport& report, const std::vector<Asked>& asked);

/// The data of one answer, each line with the program and the process before it. The heading is for the first of
/// several only.
enum class CsvHeading : std::uint8_t { no, yes };
std::string recording_csv(const RecordingReport& report, const Asked& asked, CsvHeading heading);

}  // namespace faultline::report
