// faultline calibrate --on vm:KERNEL
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "calibrate/calibration.h"
#include "cli/commands.h"
#include "cli/default_machines.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/source.h"
#include "cost/table_json.h"

namespace faultline::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCalibrateFooter =
    R"(Runs the training programs on the kernel, which counts instructions, and on the model of it, which counts what the operations do;
fits what each of those things costs; and says how far the predictions for the held-out programs are from what was counted.
`faultline run --on model:…` then shows predicted instructions, by the tables that are built in or given with --costs.

Exit status: 0 done; 2 the machine or a program cannot be used.

Examples:
  faultline calibrate --on vm:6.12
  faultline calibrate --on vm:6.12 --rows
  faultline calibrate --on vm:patched --model 6.12 --out patched.json
  faultline run programs/mprotect-cycle.fl --on model:6.12 --costs patched.json)";

struct CalibrateOptions {
  std::string on;
  std::string model;
  std::string training;
  std::string held_out;
  std::string out;
  std::string json;
  double time_limit = 300;
  bool rows = false;
};

/// Where the programs are: installed beside the command, or in the source tree that it was built from.
fs::path calibration_programs() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = here.parent_path() / "share/faultline/programs/calibration";
  return !error && fs::is_directory(installed, error) ? installed : fs::path(FAULTLINE_PROGRAMS "/calibration");
}

std::expected<std::vector<Source>, std::string> load_folder(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".fl") paths.push_back(entry.path());
  }
  if (error) return std::unexpected(fmt::format("faultline: cannot read {}: {}\n", folder.string(), error.message()));
  if (paths.empty()) {
    return std::unexpected(
        fmt::format("faultline: {} has no programs; expected files that end in .fl\n", folder.string()));
  }
  std::ranges::sort(paths);
  std::vector<Source> sources;
  for (const fs::path& path : paths) {
    auto source = load(path, Language::faultline);
    if (!source) return std::unexpected(source.error());
    sources.push_back(std::move(*source));
  }
  return sources;
}

std::vector<calibrate::Named> named(const std::vector<Source>& sources) {
  std::vector<calibrate::Named> programs;
  for (const Source& source : sources) {
    programs.push_back(
        {fs::path(source.path).parent_path().filename() / fs::path(source.path).filename(), &source.program});
  }
  return programs;
}

ExitStatus calibrate_kernel(const CalibrateOptions& options) {
  const auto machine = machine::make_machine(options.on);
  if (!machine) return complain(fmt::format("--on {}: {}", options.on, machine.error()));
  const program::MachineId& id = (*machine)->id();
  if (id.kind != "vm") {
    return complain(fmt::format("--on {}: it does not count instructions; expected vm:KERNEL", options.on));
  }
  const auto profile = mm::parse_profile(
      options.model.empty() ? nearest_profile(id.version, id.arch == "arm64" ? arch::Arch::arm64 : arch::Arch::x86_64)
                            : options.model);
  if (!profile) return complain(fmt::format("--model {}: {}", options.model, profile.error()));
  const auto folder = [](const std::string& given, const char* name) {
    return load_folder(given.empty() ? calibration_programs() / name : fs::path(given));
  };
  const auto training = folder(options.training, "train");
  const auto held_out = folder(options.held_out, "held-out");
  for (const auto* sources : {&training, &held_out}) {
    if (*sources) continue;
    fmt::print(stderr, "{}", sources->error());
    return ExitStatus::misuse;
  }
  Progress progress;
  Interrupt interrupt([] {});
  machine::Settings settings;
  settings.stop = interrupt.stop_token();
  settings.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.time_limit * 1000));
  const auto calibration = calibrate::calibrate(named(*training), named(*held_out), *profile, **machine, settings,
                                                [&](const std::string& text) { progress.show(text); });
  progress.clear();
  interrupt.stand_down();
  if (interrupt.came()) return ExitStatus::interrupted;
  if (!calibration) return complain(calibration.error());
  const auto write = [](const std::string& path, const std::string& text) {
    if (path.empty()) return true;
    const auto written = write_file(path, text);
    if (!written) complain(written.error());
    return written.has_value();
  };
  if (!write(options.out, cost::table_json(calibration->table))) return ExitStatus::misuse;
  if (!write(options.json, calibrate::calibration_json(*calibration))) return ExitStatus::misuse;
  if (options.json != "-" && options.out != "-") {
    const auto rows = options.rows ? calibrate::Rows::shown : calibrate::Rows::hidden;
    fmt::print("{}", calibrate::calibration_text(*calibration, rows));
  }
  return ExitStatus::ok;
}

}  // namespace

void add_calibrate(CLI::App& app, ExitStatus& status) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App& command = *app.add_subcommand("calibrate", "Fit what a kernel's operations cost, to predict instructions");
  command.add_option("--on", options->on, "The kernel to count on: vm:KERNEL")->type_name("MACHINE")->required();
  command.add_option("--model", options->model, "The profile that counts; by default the one of the kernel")
      ->type_name("PROFILE");
  command.add_option("--train", options->training, "A folder of programs to fit to, instead of the ready-made ones")
      ->type_name("FOLDER");
  command.add_option("--held-out", options->held_out, "A folder of programs to judge by")->type_name("FOLDER");
  command.add_option("--out", options->out, "Write the table of costs; - is standard output")->type_name("FILE");
  command.add_option("--json", options->json, "Write the table and every line's figures as JSON; - is standard output")
      ->type_name("FILE");
  command.add_flag("--rows", options->rows, "Show every held-out line, the worst first");
  add_time_limit(command, options->time_limit);
  command.footer(kCalibrateFooter);
  command.callback([options, &status] { status = calibrate_kernel(*options); });
}

}  // namespace faultline::cli
