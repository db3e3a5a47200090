// faultline machines
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "machine/machine.h"
#include "mm/profile.h"
#include "report/grid.h"

namespace faultline::cli {
namespace {

std::string models(report::Colour colour) {
  const auto choices = mm::policy_choices();
  report::Grid grid(std::vector<report::Align>(choices.size() + 1, report::Align::left));
  std::vector<std::string> heading{"model"};
  for (const mm::PolicyChoice& choice : choices) heading.emplace_back(choice.policy);
  grid.set_heading(std::move(heading));
  for (const mm::Profile& profile : mm::presets()) {
    std::vector<std::string> cells{"model:" + profile.name};
    for (const mm::PolicyChoice& choice : choices) cells.emplace_back(choice.value(profile));
    grid.add(std::move(cells));
  }
  return grid.text(colour);
}

std::string policies() {
  std::string text;
  for (const mm::PolicyChoice& choice : mm::policy_choices()) {
    text += fmt::format("  +{}=", choice.policy);
    for (std::size_t i = 0; i < choice.values.size(); ++i) text += (i > 0 ? "|" : "") + std::string(choice.values[i]);
    text += '\n';
  }
  return text + "  +memory=SIZE +commit-limit=SIZE, as in model:6.12+overcommit=never+memory=256M\n";
}

std::string live() {
  const auto machine = machine::make_machine("live");
  return machine ? fmt::format("live is {}\n", (*machine)->kernel()) : fmt::format("live: {}\n", machine.error());
}

ExitStatus machines() {
  const report::Colour colour = report::colour_for(STDOUT_FILENO);
  fmt::print("{}\nPolicies to switch, as in model:5.10+upgrade=page-count:\n{}\n{}", models(colour), policies(),
             live());
  return ExitStatus::ok;
}

}  // namespace

void add_machines(CLI::App& app, ExitStatus& status) {
  CLI::App& command = *app.add_subcommand("machines", "List the machines and the policies that a model can switch");
  command.callback([&status] { status = machines(); });
}

}  // namespace faultline::cli
