// faultline report RECORDING, and the summary that ends `faultline record`
#include "cli/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "cli/commands.h"
#include "cli/default_machines.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "machine/machine.h"
#include "record/symbols.h"
#include "report/recording_report.h"
#include "report/recording_study.h"

namespace faultline::cli {
namespace {

constexpr const char* kReportFooter =
    R"(Runs the recording on a model, and says where its calls and faults come from. RECORDING:PID is one process of it; without
it the first.

  faults later   faults on the pages that a call was the last to change; those of copy-on-write are the fork's
  present        pages in the calls' ranges when they were made
  changes of protection are counted by range length and pages present, each up to the next power of two

Example:
  faultline report ls.rec --on model:5.10 --top 30)";

struct ReportOptions {
  std::string recording;
  ReportOutput output;
};

ExitStatus run(const ReportOptions& options) {
  const auto profile = model_profile(options.output.model);
  if (!profile) return complain(profile.error());
  const auto file = load_recording_file(options.recording);
  if (!file) {
    fmt::print(stderr, "{}", file.error());
    return ExitStatus::misuse;
  }
  return print_report(*file, *profile, options.output);
}

}  // namespace

ExitStatus print_report(const RecordingFile& file, const mm::Profile& profile, const ReportOutput& output) {
  const record::RecordedProcess& process = file.recording.processes[file.process];
  record::Symbols symbols(file.recording);
  report::RecordingStudy study(file.recording, symbols);
  machine::Settings settings;
  settings.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(output.time_limit * 1000));
  const run::Report run = machine::explain(profile, process.program, settings, study, study);
  const report::RecordingReport report{file.recording, process, study.figures(), run, file.bytes};
  if (output.json.empty()) {
    fmt::print("{}", report::recording_text(report, output.top, report::colour_for(STDOUT_FILENO)));
  } else if (const auto written = write_file(output.json, report::recording_json(report)); !written) {
    return complain(written.error());
  }
  return ExitStatus::ok;
}

void add_report_output(CLI::App& command, ReportOutput& output) {
  output.model = newest_model();
  command.add_option("--on", output.model, "The model that runs the recording")
      ->type_name("MODEL")
      ->capture_default_str();
  command.add_option("--top", output.top, "Lines of each table")->type_name("N")->capture_default_str();
  command.add_option("--json", output.json, "Write all of it as JSON instead; - is standard output")->type_name("FILE");
  add_time_limit(command, output.time_limit);
}

void add_report(CLI::App& app, ExitStatus& status) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App& command = *app.add_subcommand("report", "Say where a recording's calls and faults come from");
  command.add_option("RECORDING", options->recording, "What `faultline record` wrote; - is standard input")->required();
  add_report_output(command, options->output);
  command.footer(kReportFooter);
  command.callback([options, &status] { status = run(*options); });
}

}  // namespace faultline::cli
