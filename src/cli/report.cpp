// faultline report RECORDING, and the summary that ends `faultline record`
#include "cli/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "cli/default_machines.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "machine/machine.h"
#include "record/symbols.h"
#include "report/recording_costs.h"
#include "report/recording_report.h"
#include "report/recording_study.h"

namespace faultline::cli {
namespace {

constexpr const char* kReportFooter =
    R"(Runs a recording on a model, and says where its calls and faults come from. RECORDING:PID is one process of it; without
it the first. Several recordings, or --all, give one report after the other.

  faults later   faults on the pages that a call was the last to change; those of copy-on-write are the fork's
  present        pages in the calls' ranges when they were made
  changes of protection are counted by range length and pages present, each up to the next power of two

  --what policies   what would fail, without stopping at it: everything sealed once the program is loaded, PR_SET_MDWE,
                    nothing writable and executable at once, text that cannot be read, fewer mappings, and guard regions
                    in place of mprotect(PROT_NONE); "then" is what fails only because something else did

CSV is of one question. Folded stacks (flame graphs) and callgrind (KCachegrind, callgrind_annotate) hold what --weight says.

Examples:
  faultline report ls.rec --on model:5.10 --top 30
  faultline report server.rec --what merges --what policies --map-limit 1000
  faultline report *.rec --all --what protections --format csv -o protections.csv
  faultline report ls.rec --format callgrind --weight faults -o callgrind.out.ls)";

enum class ReportFormat : std::uint8_t { text, json, csv, folded, callgrind };
constexpr std::array<std::string_view, 5> kFormats{"text", "json", "csv", "folded", "callgrind"};

struct ReportOptions {
  std::vector<std::string> recordings;
  bool all = false;
  std::vector<report::Question> what;
  ReportFormat format = ReportFormat::text;
  std::string output = "-";
  report::Weight weight = report::Weight::faults;
  report::AnswerOptions answers;
  ReportOutput common;
};

/// What one process gives, and how it is printed.
class Reporter {
 public:
  Reporter(const ReportOptions& options, const mm::Profile& profile) : options_(options), profile_(profile) {}

  /// What was asked, in the format that was asked for.
  std::string report(const RecordingFile& file, std::size_t process) {
    machine::Settings settings;
    settings.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(options_.common.time_limit * 1000));
    record::Symbols symbols(file.recording);
    const report::Subject subject{file.recording, process, profile_, settings, symbols};
    report::RecordingStudy study(file.recording, symbols);
    const run::Report run = machine::explain(profile_, subject.recorded().program, settings, study, study);
    report::RecordingReport report{file.recording, subject.recorded(), study.figures(), run, file.bytes};
    if (file.recording.native) report.all_faults = faults_of_all(file, process, study.figures(), settings, symbols);
    std::vector<report::Asked> asked;
    for (const report::Question question : options_.what) {
      asked.push_back({question, report::answer(question, subject, study.figures(), options_.answers)});
    }
    return printed(report, asked, symbols);
  }

 private:
  /// `known` are the figures of that process.
  std::uint64_t faults_of_all(const RecordingFile& file, std::size_t process, const report::StudyFigures& known,
                              const machine::Settings& settings, record::Symbols& symbols) {
    std::uint64_t faults = known.counted[Counter::minor_faults];
    for (std::size_t i = 0; i < file.recording.processes.size(); ++i) {
      if (i == process) continue;
      report::RecordingStudy study(file.recording, symbols);
      machine::explain(profile_, file.recording.processes[i].program, settings, study, study);
      faults += study.figures().counted[Counter::minor_faults];
    }
    return faults;
  }

  std::string printed(const report::RecordingReport& report, const std::vector<report::Asked>& asked,
                      record::Symbols& symbols) {
    const bool first = std::exchange(first_, false);
    switch (options_.format) {
      case ReportFormat::text: {
        const auto colour = options_.output == "-" ? report::colour_for(STDOUT_FILENO) : report::Colour::off;
        return (first ? "" : "\n") + report::recording_text(report, asked, options_.common.top, colour);
      }
      case ReportFormat::json:
        return report::recording_json(report, asked);
      case ReportFormat::csv:
        return report::recording_csv(report, asked.front(), first ? report::CsvHeading::yes : report::CsvHeading::no);
      case ReportFormat::folded:
        return report::recording_folded(report, symbols, options_.weight);
      case ReportFormat::callgrind:
        return report::recording_callgrind(report, symbols, options_.weight);
    }
    return {};
  }

  const ReportOptions& options_;
  const mm::Profile& profile_;
  bool first_ = true;
};

/// What options that are right one by one ask for together and cannot have; empty when nothing is wrong.
std::string contradiction(const ReportOptions& options) {
  const bool stacks = options.format == ReportFormat::folded || options.format == ReportFormat::callgrind;
  if (options.format == ReportFormat::csv && options.what.size() != 1) {
    return "--format csv is one table: expected one --what";
  }
  if (stacks && !options.what.empty()) {
    return fmt::format("--format {} holds what --weight says; expected no --what",
                       kFormats[static_cast<std::size_t>(options.format)]);
  }
  if (options.format == ReportFormat::callgrind && (options.recordings.size() > 1 || options.all)) {
    return "--format callgrind is of one process: expected one RECORDING, and no --all";
  }
  return {};
}

ExitStatus run(ReportOptions options) {
  const auto profile = model_profile(options.common.model);
  if (!profile) return complain(profile.error());
  if (!options.common.json.empty()) {
    options.format = ReportFormat::json;
    options.output = options.common.json;
  }
  if (const std::string wrong = contradiction(options); !wrong.empty()) return complain(wrong);
  Reporter reporter(options, *profile);
  std::string text;
  for (const std::string& recording : options.recordings) {
    const auto file = load_recording_file(recording);
    if (!file) {
      fmt::print(stderr, "{}", file.error());
      return ExitStatus::misuse;
    }
    const std::size_t first = options.all ? 0 : file->process;
    const std::size_t end = options.all ? file->recording.processes.size() : first + 1;
    for (std::size_t process = first; process < end; ++process) text += reporter.report(*file, process);
  }
  if (const auto written = write_file(options.output, text); !written) return complain(written.error());
  return ExitStatus::ok;
}

void add_questions(CLI::App& command, ReportOptions& options) {
  std::vector<std::string> names;
  std::string help = "What to say instead of the summary; may be given several times:";
  for (const report::QuestionName& question : report::questions()) {
    names.emplace_back(question.name);
    help += fmt::format("\n{}: {}", question.name, question.about);
  }
  const auto add = [&options](const std::vector<std::string>& chosen) {
    for (const std::string& name : chosen) options.what.push_back(*report::question_named(name));
  };
  command.add_option_function<std::vector<std::string>>("--what", add, help)
      ->type_name("QUESTION")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names).description(""));
  command
      .add_option("--sealed-after", options.answers.policies.sealed_after,
                  "With --what policies: seal after so many memory calls, not once the program is loaded")
      ->type_name("N");
  command
      .add_option(
          "--map-limit", options.answers.policies.map_limits,
          "With --what policies: a vm.max_map_count; may be given several times (default: 65530, and half of the "
          "VMAs that there are at most)")
      ->type_name("N")
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber.description(""));
  auto* calls = command
                    .add_option("--interval-calls", options.answers.dirty.calls,
                                "With --what dirty: look after so many memory calls")
                    ->type_name("N")
                    ->check(CLI::PositiveNumber.description(""));
  command
      .add_option("--interval-touches", options.answers.dirty.touches,
                  "Or after so many pages touched (default: a tenth of those recorded)")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->excludes(calls);
}

}  // namespace

ExitStatus print_summary(const RecordingFile& file, const mm::Profile& profile, const ReportOutput& output) {
  ReportOptions options;
  options.common = output;
  if (!output.json.empty()) options.format = ReportFormat::json;
  const std::string text = Reporter(options, profile).report(file, file.process);
  if (const auto written = write_file(output.json.empty() ? "-" : output.json, text); !written) {
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
  command
      .add_option("RECORDING", options->recordings,
                  "What `faultline record` wrote (RECORDING:PID is one process of it); - is standard input")
      ->required();
  command.add_flag("--all", options->all, "Every process of the recordings, not only the first");
  add_questions(command, *options);
  const auto format = [options](const std::string& name) {
    options->format = static_cast<ReportFormat>(std::ranges::find(kFormats, name) - kFormats.begin());
  };
  command
      .add_option_function<std::string>("--format", format, "How to say it (default text); JSON is a line per process")
      ->type_name("text|json|csv|folded|callgrind")
      ->check(CLI::IsMember({"text", "json", "csv", "folded", "callgrind"}).description(""));
  const auto weight = [options](const std::string& name) { options->weight = *report::weight_named(name); };
  command.add_option_function<std::string>("--weight", weight, "Of folded stacks and callgrind (default faults)")
      ->type_name("faults|ptes|flushes")
      ->check(CLI::IsMember({"faults", "ptes", "flushes"}).description(""));
  command.add_option("-o,--output", options->output, "Where to; - is standard output (default)")->type_name("FILE");
  add_report_output(command, options->common);
  // --json FILE is short for --format json -o FILE.
  command.get_option("--json")->excludes("--format")->excludes("--output");
  command.footer(kReportFooter);
  command.callback([options, &status] { status = run(*options); });
}

}  // namespace faultline::cli
