// faultline machines
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

#include "cli/commands.h"
#include "machine/machine.h"
#include "mm/profile.h"
#include "report/grid.h"

namespace faultline::cli {
namespace {

using mm::Profile;

template <auto Member>
std::size_t value_of(const Profile& profile) {
  return std::to_underlying(profile.*Member);
}

struct Column {
  std::string_view policy;
  std::size_t (*value)(const Profile&);
};
constexpr auto kColumns = std::to_array<Column>({
    {"upgrade", value_of<&Profile::upgrade>},
    {"wp-reuse", value_of<&Profile::wp_reuse>},
    {"rmw", value_of<&Profile::rmw>},
    {"exec-only", value_of<&Profile::exec_only>},
    {"seal", value_of<&Profile::seal>},
    {"seal-discard", value_of<&Profile::seal_discard>},
    {"guards", value_of<&Profile::guards>},
    {"merge", value_of<&Profile::merge>},
    {"uncharge", value_of<&Profile::uncharge>},
});

// The values of a policy stand in the order of its enum.
std::string_view value_name(const Column& column, const Profile& profile) {
  for (const mm::PolicyChoice& choice : mm::policy_choices()) {
    if (choice.policy == column.policy) return choice.values[column.value(profile)];
  }
  return "?";
}

std::string models(report::Colour colour) {
  report::Grid grid(std::vector<report::Align>(kColumns.size() + 1, report::Align::left));
  std::vector<std::string> heading{"model"};
  for (const Column& column : kColumns) heading.emplace_back(column.policy);
  grid.set_heading(std::move(heading));
  for (const Profile& profile : mm::presets()) {
    std::vector<std::string> cells{"model:" + profile.name};
    for (const Column& column : kColumns) cells.emplace_back(value_name(column, profile));
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
  return text;
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
