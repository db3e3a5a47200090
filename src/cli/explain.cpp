// faultline explain PROGRAM --on model:…
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <expected>
#include <memory>

#include "cli/commands.h"
#include "cli/default_machines.h"
#include "cli/options.h"
#include "cli/source.h"
#include "cli/sweep.h"
#include "machine/machine.h"
#include "mm/profile.h"
#include "report/explain.h"
#include "report/footnotes.h"
#include "report/grid.h"

namespace faultline::cli {
namespace {

constexpr const char* kExplainFooter = R"(Steps count every operation that is executed, from 1.

Of each page that faults it says what the entry was, which step had left it so, and which rule decided what to do.
--vmas draws a letter per VMA and a column per page ("AA…AA" is a long one), * below the pages that the step names:
    before   AAAAAA
    range      **
    after    AABBCC
and says of each letter what it is, and which attribute keeps it apart from its lower neighbour.

Examples:
  faultline explain programs/atomic-populate.fl --on model:arm64/6.8 --step 2
  faultline explain programs/mprotect-cycle.fl --on model:5.10 --step 1-6 --set pages=2
  faultline explain programs/cases/split-and-merge.fl --vmas)";

struct ExplainOptions {
  std::string program;
  Language from = Language::by_content;
  std::string on;
  std::vector<std::string> set;
  std::string steps;
  bool vmas = false;
  double time_limit = 60;
};

std::optional<std::uint64_t> step_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc{} || end != text.end() || value == 0) return std::nullopt;
  return value;
}

// "4" or "4-9".
std::expected<report::StepRange, std::string> parse_steps(std::string_view text) {
  if (text.empty()) return report::StepRange{};
  const std::size_t dash = text.find('-');
  const auto first = step_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : step_number(text.substr(dash + 1));
  if (first && last && *first <= *last) return report::StepRange{*first, *last};
  return std::unexpected(fmt::format("--step {}: expected a step, such as 4, or a range, such as 4-9", text));
}

std::expected<machine::Settings, std::string> settings_of(const ExplainOptions& options,
                                                          const program::Program& program) {
  const auto sweep = Sweep::parse(options.set);
  if (!sweep) return std::unexpected(sweep.error());
  if (sweep->runs() > 1) return std::unexpected(std::string("--set: an explanation is of one run; expected one value"));
  if (const std::string missing = missing_param(program, *sweep); !missing.empty()) return std::unexpected(missing);
  machine::Settings settings;
  settings.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.time_limit * 1000));
  for (const auto& [name, setting] : sweep->at(0)) settings.params.emplace_back(name, setting.value);
  return settings;
}

void print_notes(run::Report report, report::Colour colour) {
  report::Comparison comparison;
  comparison.reports.push_back(std::move(report));
  for (const auto& notes : {report::checks(comparison), report::endings(comparison)}) {
    for (const report::Footnote& note : notes) fmt::print("{}\n", report::coloured(note.text, note.emphasis, colour));
  }
}

ExitStatus explain(const ExplainOptions& options) {
  const auto steps = parse_steps(options.steps);
  if (!steps) return complain(steps.error());
  const auto profile = model_profile(options.on);
  if (!profile) return complain(profile.error());
  const auto source = load(options.program, options.from);
  if (!source) {
    fmt::print(stderr, "{}", source.error());
    return ExitStatus::misuse;
  }
  print_notes(*source);
  const auto settings = settings_of(options, source->program);
  if (!settings) return complain(settings.error());

  const report::Colour colour = report::colour_for(STDOUT_FILENO);
  report::Explainer explainer(
      *steps, options.vmas ? report::DrawVmas::yes : report::DrawVmas::no,
      [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }, colour);
  const run::Report report = machine::explain(*profile, source->program, *settings, explainer, explainer);
  const ExitStatus status = status_of(report);
  if (status == ExitStatus::misuse) fmt::print(stderr, "{}", ending_message(*source, report));
  print_notes(report, colour);
  if (!options.steps.empty() && explainer.printed() == 0) {
    return complain(fmt::format("--step {}: the program ended after {} steps", options.steps, explainer.executed()));
  }
  return status;
}

}  // namespace

void add_explain(CLI::App& app, ExitStatus& status) {
  auto options = std::make_shared<ExplainOptions>();
  options->on = newest_model();
  CLI::App& command = *app.add_subcommand("explain", "Say of each step which rule of the model decided, and its cost");
  command.add_option("PROGRAM", options->program, "The program, or strace log, to explain; - is standard input")
      ->required();
  add_from(command, options->from);
  command.add_option("--on", options->on, "The model that explains itself")->type_name("MODEL")->capture_default_str();
  add_set(command, options->set, "Replace a param's value");
  command.add_option("--step", options->steps, "Only this step, or these")->type_name("N[-M]");
  command.add_flag("--vmas", options->vmas, "Draw the VMAs around each step, before and after it");
  add_time_limit(command, options->time_limit);
  command.footer(kExplainFooter);
  command.callback([options, &status] { status = explain(*options); });
}

}  // namespace faultline::cli
