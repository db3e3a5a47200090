// faultline run PROGRAM… --on MACHINE…
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/cost_file.h"
#include "cli/default_machines.h"
#include "cli/options.h"
#include "cli/run_session.h"
#include "cli/source.h"
#include "cli/sweep.h"
#include "machine/machine.h"

namespace faultline::cli {
namespace {

constexpr const char* kRunFooter = R"(Without --on: the newest model that is not newer than this kernel, and live.
Machines: model:6.12, model:arm64/6.8, model:5.10+upgrade=page-count, live; `faultline machines` lists them.
  vm:6.12, vm:arm64/6.12, vm:path/to/bzImage, vm:6.12,cpus=2,memory=1024: a kernel under QEMU, counted to the single
  instruction; `faultline kernel fetch 6.12` gets one. Several run side by side.
Several values, or several --set, run every combination.

Examples:
  faultline run programs/mprotect-cycle.fl --on model:5.10 --on model:6.12 --on live
  faultline run programs/*.fl --on model:6.18 --counters
  strace -f -o ls.log ls; faultline run ls.log --on model:6.18
  faultline run programs/mprotect-cycle.fl --on live --set pages=1,8,64 --json cycle.json
  faultline run programs/mprotect-cycle.fl --on vm:5.10 --on vm:6.12 --by function --line 11)";

struct RunOptions {
  std::vector<std::string> programs;
  std::vector<std::string> on;
  std::vector<std::string> set;
  Language from = Language::by_content;
  std::string json;
  double time_limit = 60;
  std::uint32_t rounds = 1;
  bool all_counters = false;
  std::string format = "table";
  bool laws = false;
  std::vector<std::string> costs;
  std::string by;
  std::uint32_t line = 0;  // 0 for all
  std::string folded;
  std::string callgrind;
};

std::optional<FunctionOutput> functions(const RunOptions& options) {
  if (options.by.empty() && options.folded.empty() && options.callgrind.empty()) return std::nullopt;
  return FunctionOutput{options.line > 0 ? std::optional(options.line) : std::nullopt, options.folded,
                        options.callgrind};
}

std::expected<std::vector<std::unique_ptr<machine::Machine>>, std::string> make_machines(
    const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<machine::Machine>> machines;
  for (const std::string& name : names) {
    auto made = machine::make_machine(name);
    if (!made) return std::unexpected(fmt::format("--on {}: {}", name, made.error()));
    machines.push_back(std::move(*made));
  }
  return machines;
}

// Everything that can be wrong with the command is found before the first program runs.
ExitStatus run(const RunOptions& options) {
  const auto sweep = Sweep::parse(options.set);
  if (!sweep) return complain(sweep.error());
  std::vector<Source> sources;
  for (const std::string& path : options.programs) {
    auto source = load(path, options.from);
    if (!source) {
      fmt::print(stderr, "{}", source.error());
      return ExitStatus::misuse;
    }
    if (const std::string missing = missing_param(source->program, *sweep); !missing.empty()) return complain(missing);
    sources.push_back(std::move(*source));
  }
  auto machines = make_machines(options.on.empty() ? default_machines() : options.on);
  if (!machines) return complain(machines.error());

  std::vector<cost::CostTable> costs;
  for (const std::string& path : options.costs) {
    auto table = load_costs(path);
    if (!table) return complain(table.error());
    costs.push_back(std::move(*table));
  }

  if (!options.callgrind.empty() && (machines->size() != 1 || sources.size() != 1 || sweep->runs() != 1)) {
    return complain("--callgrind: expected one program on one machine, with one set of parameters");
  }
  RunSession session({.format = options.format == "mail" ? Format::mail : Format::table,
                      .laws = options.laws ? Laws::shown : Laws::hidden,
                      .json_path = options.json,
                      .counted = options.all_counters ? report::Counted::all : report::Counted::differences,
                      .colour = report::colour_for(STDOUT_FILENO),
                      .time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.time_limit * 1000)),
                      .functions = functions(options),
                      .costs = std::move(costs),
                      .rounds = options.rounds});
  return session.run(sources, *machines, *sweep);
}

}  // namespace

void add_run(CLI::App& app, ExitStatus& status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App& command = *app.add_subcommand("run", "Run programs on machines, side by side");
  command
      .add_option("PROGRAM", options->programs,
                  "Programs or strace logs (LOG:PID is one process of it) to run; - is standard input")
      ->required();
  add_from(command, options->from);
  add_on(command, options->on, "A machine to run on; may be given several times");
  add_set(command, options->set, "Replace a param's value; several values sweep it");
  command
      .add_option("--json", options->json,
                  "Write JSON that Google Benchmark's tools read; - is standard output, "
                  "instead of the table")
      ->type_name("FILE");
  add_time_limit(command, options->time_limit);
  command
      .add_option("--rounds", options->rounds,
                  "Repeat live runs in this many processes, interleaved A B B A; a sample is then a process's median")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
  command.add_flag("--counters", options->all_counters,
                   "Show every counter that is not zero, not only faults and what "
                   "differs");
  command.add_option("--format", options->format, "How to print: a table for a terminal, or plain text for a mail")
      ->type_name("table|mail")
      ->check(CLI::IsMember({"table", "mail"}).description(""));
  command.add_flag("--laws", options->laws, "After a sweep, fit each operation's cost: fixed + a·pages + b·VMAs");
  command
      .add_option("--costs", options->costs, "Predict by this table of faultline calibrate instead of a built-in one")
      ->type_name("FILE");
  command.add_option("--by", options->by, "Show on which functions of the kernel the instructions were spent (vm)")
      ->type_name("function")
      ->check(CLI::IsMember({"function"}).description(""));
  command.add_option("--line", options->line, "With --by: only the operation of this line")
      ->type_name("LINE")
      ->check(CLI::PositiveNumber.description(""));
  command.add_option("--folded", options->folded, "Write the paths of calls for flame graph tools (vm)")
      ->type_name("FILE");
  command.add_option("--callgrind", options->callgrind, "Write them for KCachegrind (vm, one machine)")
      ->type_name("FILE");
  command.footer(kRunFooter);
  command.callback([options, &status] { status = run(*options); });
}

}  // namespace faultline::cli
