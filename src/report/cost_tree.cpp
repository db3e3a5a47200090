#include "report/cost_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <unordered_map>
#include <utility>

#include "report/format.h"

namespace faultline::report {
namespace {

constexpr std::size_t kWidestName = 400;

std::string path_of(const std::vector<CostNode>& nodes, std::size_t at) {
  std::string path;
  for (std::uint32_t i = static_cast<std::uint32_t>(at); i != CostNode::kNoParent; i = nodes[i].parent) {
    std::string name = printable(nodes[i].function, kWidestName);
    std::ranges::replace(name, ';', ':');
    path.insert(0, ";" + name);
  }
  return path;
}

struct Function {
  std::string object;
  std::string file;
  std::string name;
  auto operator<=>(const Function&) const = default;
};

struct Callee {
  std::uint32_t line = 0;
  Function called;
  auto operator<=>(const Callee&) const = default;
};

struct Costs {
  std::map<std::uint32_t, std::uint64_t> own;                            // by line
  std::map<Callee, std::pair<std::uint64_t, std::uint64_t>> calls = {};  // times, cost with all that it called
};

Function function_of(const CostNode& node) {
  return {printable(node.object, kWidestName), printable(node.file, kWidestName),
          printable(node.function, kWidestName)};
}

std::string or_unknown(const std::string& name) { return name.empty() ? "???" : name; }

}  // namespace

std::string folded(const std::vector<CostNode>& nodes, std::string_view prefix) {
  std::vector<std::pair<std::string, std::uint64_t>> lines;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].cost == 0) continue;
    std::string path = path_of(nodes, i);
    const auto [place, fresh] = places.try_emplace(path, lines.size());
    if (fresh) lines.emplace_back(std::move(path), 0);
    lines[place->second].second += nodes[i].cost;
  }
  std::string text;
  for (const auto& [path, cost] : lines) text += fmt::format("{}{} {}\n", prefix, path, cost);
  return text;
}

std::string callgrind(const std::vector<CostNode>& nodes, const CallgrindHead& head) {
  std::vector<std::uint64_t> whole(nodes.size());
  std::uint64_t total = 0;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    whole[i] += nodes[i].cost;
    total += nodes[i].cost;
    if (nodes[i].parent < i) whole[nodes[i].parent] += whole[i];
  }
  std::map<Function, Costs> functions;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const CostNode& node = nodes[i];
    const Function function = function_of(node);
    functions[function].own[node.line] += node.cost;
    if (node.parent == CostNode::kNoParent) continue;
    const CostNode& caller = nodes[node.parent];
    auto& [calls, cost] = functions[function_of(caller)].calls[{caller.line, function}];
    calls += node.calls;
    cost += whole[i];
  }
  std::string text = fmt::format(
      "# callgrind format\nversion: 1\ncreator: faultline\ncmd: {}\npositions: line\nevent: {} : {}\nevents: {}\n"
      "summary: {}\n",
      printable(head.command, 200), head.event, head.description, head.event, total);
  const bool with_files = std::ranges::any_of(nodes, [](const CostNode& node) { return !node.object.empty(); });
  for (const auto& [function, costs] : functions) {
    text += "\n";
    if (with_files) text += fmt::format("ob={}\nfl={}\n", or_unknown(function.object), or_unknown(function.file));
    text += fmt::format("fn={}\n", or_unknown(function.name));
    for (const auto& [line, cost] : costs.own) {
      if (cost > 0 || costs.calls.empty()) text += fmt::format("{} {}\n", line, cost);
    }
    for (const auto& [call, cost] : costs.calls) {
      if (with_files) {
        text += fmt::format("cob={}\ncfi={}\n", or_unknown(call.called.object), or_unknown(call.called.file));
      }
      text +=
          fmt::format("cfn={}\ncalls={} 0\n{} {}\n", or_unknown(call.called.name), cost.first, call.line, cost.second);
    }
  }
  return text;
}

}  // namespace faultline::report
