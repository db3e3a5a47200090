#include "cli/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "program/number.h"
#include "run/evaluate.h"

namespace faultline::cli {
namespace {

using Settings = std::vector<std::pair<std::string, Setting>>;

std::unexpected<std::string> wrong(std::string_view argument, std::string_view why) {
  return std::unexpected(fmt::format("--set {}: {}", argument, why));
}

std::expected<ParamSweep, std::string> parse_one(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) return wrong(argument, "expected NAME=VALUE or NAME=VALUE,VALUE,…");
  ParamSweep param{argument.substr(0, equals), {}};
  std::string_view rest = std::string_view(argument).substr(equals + 1);
  for (;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view text = rest.substr(0, comma);
    const auto value = program::parse_number(text);
    if (!value) return wrong(argument, fmt::format("'{}': {}", text, value.error()));
    param.values.push_back({std::string(text), *value});
    if (comma == std::string_view::npos) return param;
    rest.remove_prefix(comma + 1);
  }
}

// Before a run there is no memory to ask about.
class NoProbes : public run::ProbeSource {
 public:
  run::Value probe(program::Position position, const program::Probe&, std::span<const std::uint64_t>) override {
    return std::unexpected(run::EvalError{run::EvalFailure::unknown, position, "not running"});
  }
};

const Setting* find(const Settings& settings, std::string_view name) {
  const auto found = std::ranges::find(settings, name, &Settings::value_type::first);
  return found == settings.end() ? nullptr : &found->second;
}

// A number keeps its spelling, "128K"; what is computed is shown as its value.
std::string text_of(const program::Expr& expr, std::uint64_t value) {
  const auto* number = std::get_if<program::Number>(&expr.node);
  return number != nullptr && !number->text.empty() ? number->text : run::value_text(value);
}

}  // namespace

std::expected<Sweep, std::string> Sweep::parse(const std::vector<std::string>& arguments) {
  Sweep sweep;
  for (const std::string& argument : arguments) {
    auto param = parse_one(argument);
    if (!param) return std::unexpected(param.error());
    if (std::ranges::find(sweep.params_, param->name, &ParamSweep::name) != sweep.params_.end()) {
      return wrong(argument,
                   fmt::format("'{}' is set twice; expected one --set {}=VALUE,VALUE,…", param->name, param->name));
    }
    if (param->values.size() > kMostRuns / sweep.runs_) {
      return wrong(argument, fmt::format("the combinations of all values are more than {} runs", kMostRuns));
    }
    sweep.runs_ *= param->values.size();
    sweep.params_.push_back(std::move(*param));
  }
  return sweep;
}

Settings Sweep::at(std::size_t run) const {
  Settings settings;
  std::size_t block = runs_;
  for (const ParamSweep& param : params_) {
    block /= param.values.size();
    settings.emplace_back(param.name, param.values[run / block % param.values.size()]);
  }
  return settings;
}

std::string missing_param(const program::Program& program, const Sweep& sweep) {
  std::vector<std::string_view> declared;
  for (const program::Statement& statement : program.body) {
    if (const auto* param = std::get_if<program::Param>(&statement.node)) declared.push_back(param->name);
  }
  for (const ParamSweep& set : sweep.params()) {
    if (std::ranges::find(declared, set.name) != declared.end()) continue;
    std::string names;
    for (const std::string_view name : declared) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    return fmt::format("--set {}: {} has no param of that name; {}", set.name, program.name,
                       names.empty() ? "it has none" : "expected one of " + names);
  }
  return {};
}

std::vector<report::ParamValue> param_values(const program::Program& program, const Settings& settings) {
  std::vector<report::ParamValue> values;
  std::vector<std::uint64_t> slots(program.slots.size());
  NoProbes probes;
  for (const program::Statement& statement : program.body) {
    const auto* param = std::get_if<program::Param>(&statement.node);
    const auto* let = std::get_if<program::Let>(&statement.node);
    if (param == nullptr && let == nullptr) continue;
    if (const Setting* setting = param != nullptr ? find(settings, param->name) : nullptr) {
      slots[param->slot.index] = setting->value;
      values.push_back({param->name, setting->value, setting->text});
      continue;
    }
    const program::Expr& expr = param != nullptr ? *param->value : *let->value;
    const run::Value value = run::evaluate(expr, slots, probes);
    // What follows may depend on it.
    if (!value) return values;
    slots[(param != nullptr ? param->slot : let->slot).index] = *value;
    if (param != nullptr) values.push_back({param->name, *value, text_of(expr, *value)});
  }
  return values;
}

}  // namespace faultline::cli
