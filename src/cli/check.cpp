// faultline check --model PROFILE --against MACHINE
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "check/checker.h"
#include "check/draw.h"
#include "cli/commands.h"
#include "cli/default_machines.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "report/format.h"

namespace faultline::cli {
namespace {

constexpr const char* kFooter =
    R"(Every program runs in a process of its own, and every result, signal, VMA, resident page, content and count of faults is compared
after each of its operations. The first difference is shrunk and written as a program that shows it.

Exit status: 0 no difference was found; 1 one was; 2 the machine cannot be used.

Examples:
  faultline check --against live
  faultline check --model 6.18 --against live --programs 100000 --seed 7
  faultline check --model 6.18+zero-page=forbidden --against live --seconds 600 --out difference.fl)";

/// In one run of the machine: enough that starting it costs little, few enough that progress moves.
constexpr std::uint64_t kProgramsPerRun = 50;

struct Options {
  std::string model;
  std::string against = "live";
  std::uint64_t programs = 2000;
  double seconds = 0;
  std::uint64_t seed = 1;
  unsigned operations = 20;
  std::string out;
  std::string json;
};

using Clock = std::chrono::steady_clock;

struct Tally {
  std::uint64_t programs = 0;
  std::uint64_t operations = 0;
  Clock::time_point began = Clock::now();

  double seconds() const { return std::chrono::duration<double>(Clock::now() - began).count(); }
  std::string text() const {
    return fmt::format("{} programs, {} operations, {} programs a second", report::thousands(programs),
                       report::thousands(operations),
                       report::thousands(static_cast<std::uint64_t>(static_cast<double>(programs) / seconds())));
  }
};

ExitStatus tell(const Options& options, const check::Checker& checker, const check::Difference& difference,
                const Tally& tally) {
  const std::string program = checker.reproducer(difference);
  if (!options.out.empty()) {
    if (const auto written = write_file(options.out, program); !written) return complain(written.error());
    fmt::print("A difference after {}; {} shows it:\n  {}\n", tally.text(), options.out, difference.what);
  } else {
    fmt::print("A difference after {}:\n\n{}", tally.text(), program);
  }
  return ExitStatus::failed;
}

std::string as_json(const Options& options, const machine::Machine& machine, const Tally& tally,
                    const check::Difference* difference) {
  nlohmann::json json{{"model", options.model},     {"against", machine.name()},
                      {"kernel", machine.kernel()}, {"seed", options.seed},
                      {"programs", tally.programs}, {"operations", tally.operations},
                      {"seconds", tally.seconds()}, {"differences", difference == nullptr ? 0 : 1}};
  if (difference != nullptr) json["difference"] = difference->what;
  return json.dump(2) + "\n";
}

ExitStatus check(const Options& options) {
  const auto profile = mm::parse_profile(options.model);
  if (!profile) return complain(fmt::format("--model {}: {}", options.model, profile.error()));
  const auto machine = machine::make_machine(options.against);
  if (!machine) return complain(fmt::format("--against {}: {}", options.against, machine.error()));

  check::Checker checker(*profile, **machine);
  check::Random random(options.seed);
  Tally tally;
  Progress progress;
  Interrupt interrupt([] {});
  const auto goes_on = [&] {
    if (interrupt.came()) return false;
    return options.seconds > 0 ? tally.seconds() < options.seconds : tally.programs < options.programs;
  };
  std::optional<check::Difference> difference;
  while (goes_on() && !difference) {
    std::vector<check::Case> cases;
    const std::uint64_t left = options.seconds > 0 ? kProgramsPerRun : options.programs - tally.programs;
    for (std::uint64_t i = 0; i < std::min(left, kProgramsPerRun); ++i) {
      cases.push_back(check::draw(random, options.operations));
    }
    auto found = checker.compare(cases);
    if (!found) return complain(found.error());
    tally.programs += cases.size();
    for (const check::Case& one : cases) tally.operations += one.size();
    difference = std::move(*found);
    progress.show(tally.text());
  }
  progress.clear();
  const bool interrupted = interrupt.came();
  interrupt.stand_down();
  if (difference) {
    auto shrunk = checker.shrink(*difference);
    if (!shrunk) return complain(shrunk.error());
    difference = std::move(*shrunk);
  }
  if (!options.json.empty()) {
    const auto written =
        write_file(options.json, as_json(options, **machine, tally, difference ? &*difference : nullptr));
    if (!written) return complain(written.error());
  }
  if (difference) return options.json == "-" ? ExitStatus::failed : tell(options, checker, *difference, tally);
  if (options.json != "-") {
    fmt::print("No difference between model:{} and {} in {} (seed {})\n", profile->name, (*machine)->kernel(),
               tally.text(), options.seed);
  }
  return interrupted ? ExitStatus::interrupted : ExitStatus::ok;
}

}  // namespace

void add_check(CLI::App& app, ExitStatus& status) {
  auto options = std::make_shared<Options>();
  options->model = newest_model().substr(std::string_view("model:").size());
  CLI::App& command = *app.add_subcommand("check", "Hold the model against a kernel with random programs");
  command.add_option("--model", options->model, "The profile that is checked")
      ->type_name("PROFILE")
      ->capture_default_str();
  command.add_option("--against", options->against, "The machine that is right")
      ->type_name("MACHINE")
      ->capture_default_str();
  command.add_option("--programs", options->programs, "How many programs to try")->capture_default_str();
  command.add_option("--seconds", options->seconds, "Try programs for so long instead")->check(CLI::PositiveNumber);
  command.add_option("--seed", options->seed, "Where the random numbers begin; equal seeds give equal programs")
      ->capture_default_str();
  command.add_option("--operations", options->operations, "Operations in each program")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  command.add_option("--out", options->out, "Write the program that shows a difference here")->type_name("FILE");
  command.add_option("--json", options->json, "Write the outcome as JSON; - is standard output")->type_name("FILE");
  command.footer(kFooter);
  command.callback([options, &status] { status = check(*options); });
}

}  // namespace faultline::cli
