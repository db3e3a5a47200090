// Coverage for people and for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "check/coverage.h"

namespace faultline::check {
namespace {

std::string name_of(const Cell& cell) {
  return cell.argument.empty() ? cell.operation : cell.operation + " " + cell.argument;
}

}  // namespace

std::string coverage_text(const Coverage& coverage) {
  std::string text = fmt::format("Coverage of model:{}: what happened, and how often\n\n", coverage.profile().name);
  std::vector<std::string> lines;
  std::string last;
  for (const auto& [cell, times] : coverage.seen()) {
    if (cell.operation == "rule") {
      lines.push_back(fmt::format("rule: {} ×{}", cell.outcome, times));
      continue;
    }
    const std::string name = name_of(cell);
    if (name != last) lines.push_back(name + ":");
    lines.back() += fmt::format(" {} ×{}", cell.outcome, times);
    last = name;
  }
  for (const std::string& line : lines) text += line + "\n";
  const std::vector<Missing> missing = coverage.missing();
  const auto tell = [&](std::string_view title, bool unreachable) {
    std::string list;
    std::size_t count = 0;
    for (const Missing& one : missing) {
      if (one.reason.empty() == unreachable) continue;
      ++count;
      list += fmt::format("  {}: {}{}\n", name_of(one.cell), one.cell.outcome,
                          unreachable ? fmt::format(" ({})", one.reason) : "");
    }
    text += fmt::format("\n{}: {}\n{}", title, count, list);
  };
  tell("Never reached", false);
  tell("Not reachable here", true);
  return text;
}

std::string coverage_json(const Coverage& coverage) {
  nlohmann::json json{{"profile", coverage.profile().name}};
  const auto as_json = [](const Cell& cell) {
    return nlohmann::json{{"operation", cell.operation}, {"argument", cell.argument}, {"outcome", cell.outcome}};
  };
  json["cells"] = nlohmann::json::array();
  for (const auto& [cell, times] : coverage.seen()) {
    json["cells"].push_back(as_json(cell));
    json["cells"].back()["times"] = times;
  }
  json["missing"] = nlohmann::json::array();
  for (const Missing& one : coverage.missing()) {
    json["missing"].push_back(as_json(one.cell));
    if (!one.reason.empty()) json["missing"].back()["unreachable"] = one.reason;
  }
  return json.dump(2) + "\n";
}

}  // namespace faultline::check
