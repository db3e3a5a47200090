// faultline check --model PROFILE --against MACHINE
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "check/as_built.h"
#include "check/checker.h"
#include "check/hunt.h"
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

/// While a machine plays, its worker waits: two for each processor keep all of them busy.
constexpr unsigned kWorkersPerProcessor = 2;

struct Options {
  std::string model;
  std::string against = "live";
  std::uint64_t programs = 2000;
  double seconds = 0;
  std::uint64_t seed = 1;
  unsigned operations = 20;
  unsigned jobs = 0;
  std::string out;
  std::string json;
  bool coverage = false;
};

using Clock = std::chrono::steady_clock;

struct Tally {
  std::uint64_t programs = 0;
  std::uint64_t operations = 0;
  std::uint64_t disturbed = 0;
  Clock::time_point began = Clock::now();
  std::optional<Clock::time_point> ended;

  double seconds() const { return std::chrono::duration<double>(ended.value_or(Clock::now()) - began).count(); }
  std::string text() const {
    const std::string odd =
        disturbed == 0 ? "" : fmt::format(", of which {} differed once and not again", report::thousands(disturbed));
    return fmt::format("{} programs{}, {} operations, {} programs a second", report::thousands(programs), odd,
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

std::string as_json(const Options& options, const std::string& profile, const machine::Machine& machine,
                    const Tally& tally, const check::Difference* difference, const check::Coverage* coverage) {
  nlohmann::json json{{"model", profile},
                      {"against", machine.name()},
                      {"kernel", machine.kernel()},
                      {"seed", options.seed},
                      {"programs", tally.programs},
                      {"operations", tally.operations},
                      {"disturbed", tally.disturbed},
                      {"seconds", tally.seconds()},
                      {"differences", difference == nullptr ? 0 : 1}};
  if (difference != nullptr) json["difference"] = difference->what;
  if (coverage != nullptr) json["coverage"] = nlohmann::json::parse(check::coverage_json(*coverage));
  return json.dump(2) + "\n";
}

ExitStatus check(const Options& options) {
  const auto machine = machine::make_machine(options.against);
  if (!machine) return complain(fmt::format("--against {}: {}", options.against, machine.error()));
  const program::MachineId& id = (*machine)->id();
  auto profile = mm::parse_profile(
      options.model.empty()
          ? nearest_profile(id.version, id.arch == "arm64" ? arch::Arch::arm64 : arch::Arch::x86_64) + id.policies
          : options.model);
  if (!profile) return complain(fmt::format("--model {}: {}", options.model, profile.error()));
  *profile = check::as_built(*profile, **machine);

  check::Checker checker(*profile, **machine);
  Tally tally;
  Progress progress;
  std::atomic<std::uint64_t> played = 0;
  // The programs that are under way may take longer than whoever interrupts waits.
  Interrupt interrupt([&] {
    if (options.json == "-") return;
    fmt::print("No difference between model:{} and {} in {} programs (seed {}); those under way were left\n",
               profile->name, (*machine)->kernel(), played.load(), options.seed);
    std::fflush(stdout);
  });
  check::Hunt asked{.profile = *profile,
                    .make_machine = [&] { return machine::make_machine(options.against); },
                    .seed = options.seed,
                    .programs = options.programs,
                    .seconds = {},
                    .operations = options.operations,
                    .atomics = check::atomics_on((*machine)->id()),
                    .workers = options.jobs > 0
                                   ? options.jobs
                                   : std::max(std::thread::hardware_concurrency(), 1U) * kWorkersPerProcessor,
                    .together = (*machine)->cases_together(),
                    .stop = [&] { return interrupt.came(); },
                    .progress =
                        [&](std::uint64_t programs) {
                          played = programs;
                          tally.programs = programs;
                          tally.operations = programs * options.operations;
                          progress.show(tally.text());
                        }};
  check::Coverage coverage(*profile);
  if (options.coverage) asked.coverage = &coverage;
  if (options.seconds > 0) asked.seconds = std::chrono::duration<double>(options.seconds);
  auto caught = check::hunt(asked);
  progress.clear();
  if (!caught) return complain(caught.error());
  tally.programs = caught->programs;
  tally.operations = caught->operations;
  tally.disturbed = caught->disturbed;
  tally.ended = Clock::now();
  std::optional<check::Difference> difference = std::move(caught->first);
  const bool interrupted = interrupt.came();
  interrupt.stand_down();
  if (difference) {
    auto shrunk = checker.shrink(*difference);
    if (!shrunk) return complain(shrunk.error());
    difference = std::move(*shrunk);
  }
  if (!options.json.empty()) {
    const auto written =
        write_file(options.json, as_json(options, profile->name, **machine, tally, difference ? &*difference : nullptr,
                                         options.coverage ? &coverage : nullptr));
    if (!written) return complain(written.error());
  }
  if (options.coverage && options.json != "-") fmt::print("{}\n", check::coverage_text(coverage));
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
  CLI::App& command = *app.add_subcommand("check", "Hold the model against a kernel with random programs");
  command
      .add_option("--model", options->model, "The profile that is checked; by default the one of the machine's kernel")
      ->type_name("PROFILE");
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
  command.add_option("--jobs", options->jobs, "How many machines play at the same time; 0 is two for each processor")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  command.add_option("--out", options->out, "Write the program that shows a difference here")->type_name("FILE");
  command.add_flag("--coverage", options->coverage,
                   "Show which operations gave which outcomes, and what was never reached");
  command.add_option("--json", options->json, "Write the outcome as JSON; - is standard output")->type_name("FILE");
  command.footer(kFooter);
  command.callback([options, &status] { status = check(*options); });
}

}  // namespace faultline::cli
