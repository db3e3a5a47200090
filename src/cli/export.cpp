// faultline export PROGRAM [--c] [--slice …]
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/default_machines.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/slice_option.h"
#include "cli/source.h"
#include "cli/sweep.h"
#include "export/c_export.h"
#include "export/slice.h"
#include "machine/machine.h"
#include "program/parser.h"
#include "program/printer.h"
#include "record/symbols.h"

namespace faultline::cli {
namespace {

constexpr const char* kExportFooter =
    R"(With --c it writes C that compiles alone, and shows when it runs what the program does here and what the model counts.
Without, a program of Faultline's language.

A slice is of operations, with what must have happened before them to the same memory:
  --slice 120-180            steps: executed operations, counted from 1, as `explain` does
  --slice line=7             what a line of the program does
  --slice range=0x7f00-0x7fff  what works on these addresses
  --slice site=TEXT          of a recording: what was done at the places whose names hold TEXT (those that `report` shows), and
                             the accesses that fault later on what these calls were the last to change
Of several, what all name.

Examples:
  faultline export --c programs/mprotect-cycle.fl -o cycle.c && cc -O2 cycle.c && ./a.out
  faultline export --c python.rec --slice site=obmalloc -o arena.c
  faultline export ls.rec --slice 100-150 --on model:5.10)";

struct ExportOptions {
  std::string program;
  Language from = Language::by_content;
  bool c = false;
  std::string output = "-";
  std::string on;
  std::vector<std::string> set;
  std::vector<std::string> slice;
  std::size_t most = exports::Choice{}.most;
  double time_limit = 60;
};

std::expected<machine::Settings, std::string> settings_of(const ExportOptions& options,
                                                          const program::Program& program) {
  const auto sweep = Sweep::parse(options.set);
  if (!sweep) return std::unexpected(sweep.error());
  if (sweep->runs() > 1) return std::unexpected(std::string("--set: an export is of one run; expected one value"));
  if (const std::string missing = missing_param(program, *sweep); !missing.empty()) return std::unexpected(missing);
  machine::Settings settings;
  settings.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.time_limit * 1000));
  for (const auto& [name, setting] : sweep->at(0)) settings.params.emplace_back(name, setting.value);
  return settings;
}

/// The slice as a program, and notes about it on stderr. The error is ready to print.
std::expected<Source, std::string> slice_of(const ExportOptions& options, const Source& source,
                                            const mm::Profile& profile, const machine::Settings& settings) {
  const auto message = [&](const std::string& what) {
    return fmt::format("faultline: {}: {}\n", options.program, what);
  };
  const auto choice = parse_slice(options.slice, options.most);
  if (!choice) return std::unexpected(fmt::format("faultline: {}\n", choice.error()));
  std::string origin = options.program;
  for (const std::string& text : options.slice) origin += ", " + text;
  const program::Program* program = &source.program;
  // Places are known to what was read of the recording itself.
  std::optional<RecordingFile> recording;
  std::unique_ptr<record::Symbols> symbols;
  exports::SiteOf site_of;
  if (!choice->site.empty()) {
    auto file = load_recording_file(options.program);
    if (!file) return std::unexpected(message("--slice site= is of a recording\n") + file.error());
    recording = std::move(*file);
    symbols = std::make_unique<record::Symbols>(recording->recording);
    program = &recording->recording.processes[recording->process].program;
    site_of = [&](const program::Statement& statement) -> std::string {
      const std::uint32_t line = statement.position.line;
      const auto& origins = recording->recording.origins;
      if (line == 0 || line > origins.size() || origins[line - 1].site == record::kNoSite) return {};
      return symbols->label(origins[line - 1].site);
    };
  }
  const auto made = exports::make_slice({*program, profile, settings, *choice, site_of, origin});
  if (!made) return std::unexpected(message(made.error()));
  fmt::print(stderr, "faultline: {}: {} operations, set up by {} of {} that might have had a share\n", options.program,
             made->chosen, made->others, made->considered);
  if (made->left_out > 0)
    fmt::print(stderr, "{}", message(fmt::format("the first; --most more of {} others", made->left_out)));
  if (made->different > 0) {
    fmt::print(stderr, "{}",
               message(fmt::format("{} of the operations have other figures here than in the whole program",
                                   made->different)));
  }
  auto parsed = program::parse(made->text, options.program);
  if (!parsed) return std::unexpected(program::render(parsed.error()));
  return Source{options.program, made->text, std::move(*parsed), {}};
}

std::expected<std::string, std::string> as_c(const ExportOptions& options, const Source& source,
                                             const mm::Profile& profile, const machine::Settings& settings) {
  exports::CExport c{options.program, settings.params, "model:" + profile.name, {}};
  for (const std::string& text : options.slice) c.origin += " --slice " + text;
  auto machine = machine::make_machine(c.machine);
  if (!machine) return std::unexpected(fmt::format("faultline: {}\n", machine.error()));
  const run::Report report = (*machine)->run(source.program, settings);
  for (const run::Row& row : report.rows) {
    if (row.kind != run::RowKind::operation) continue;
    c.figures.push_back({row.calls, row.counted[Counter::minor_faults], row.after.vmas});
  }
  auto text = exports::export_c(source.program, c);
  if (text) return std::move(*text);
  const program::Error& error = text.error();
  return std::unexpected(program::render(program::error_at(source.text, error.name, error.position, error.message)));
}

ExitStatus refuse(const std::string& ready) {
  fmt::print(stderr, "{}", ready);
  return ExitStatus::misuse;
}

ExitStatus run(const ExportOptions& options) {
  const auto profile = model_profile(options.on);
  if (!profile) return complain(profile.error());
  auto source = load(options.program, options.from);
  if (!source) return refuse(source.error());
  print_notes(*source);
  auto settings = settings_of(options, source->program);
  if (!settings) return complain(settings.error());
  if (!options.slice.empty()) {
    auto slice = slice_of(options, *source, *profile, *settings);
    if (!slice) return refuse(slice.error());
    source = std::move(slice);
    settings->params.clear();
  }
  std::string text = program::print(source->program);
  if (options.c) {
    auto c = as_c(options, *source, *profile, *settings);
    if (!c) return refuse(c.error());
    text = std::move(*c);
  }
  if (const auto written = write_file(options.output, text); !written) return complain(written.error());
  return ExitStatus::ok;
}

}  // namespace

void add_export(CLI::App& app, ExitStatus& status) {
  auto options = std::make_shared<ExportOptions>();
  options->on = newest_model();
  CLI::App& command =
      *app.add_subcommand("export", "Write a program, or a slice of a recording, as C that compiles alone");
  command.add_option("PROGRAM", options->program, "The program, strace log or recording; - is standard input")
      ->required();
  add_from(command, options->from);
  command.add_flag("--c", options->c, "Write C");
  command.add_option("--slice", options->slice, "Only these operations, and what they need")
      ->type_name("STEPS|line=N|range=A-B|site=TEXT")
      ->allow_extra_args(false);
  command.add_option("--most", options->most, "The first of so many operations")->type_name("N")->capture_default_str();
  command.add_option("-o,--output", options->output, "The file to write; without it standard output")
      ->type_name("FILE");
  command.add_option("--on", options->on, "The model whose figures it shows")
      ->type_name("MODEL")
      ->capture_default_str();
  add_set(command, options->set, "Replace a param's value");
  add_time_limit(command, options->time_limit);
  command.footer(kExportFooter);
  command.callback([options, &status] { status = run(*options); });
}

}  // namespace faultline::cli
