// What the paths of calls say of single functions, and the formats of other tools.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "report/cost_tree.h"
#include "report/function_table.h"

namespace faultline::report {
namespace {

constexpr std::uint32_t kNoParent = run::CallPath::kNoParent;

/// Instructions of each path and of those below it.
std::vector<std::uint64_t> whole_paths(const run::Row& row) {
  std::vector<std::uint64_t> whole(row.paths.size());
  for (std::size_t i = row.paths.size(); i-- > 0;) {
    whole[i] += row.paths[i].instructions;
    if (const std::uint32_t parent = row.paths[i].parent; parent < i) whole[parent] += whole[i];
  }
  return whole;
}

bool calls_itself(const run::Row& row, std::size_t path) {
  for (std::uint32_t above = row.paths[path].parent; above != kNoParent; above = row.paths[above].parent) {
    if (row.paths[above].function == row.paths[path].function) return true;
  }
  return false;
}

/// The row's paths behind those that are there already.
void add_paths(const run::Row& row, std::vector<CostNode>& nodes) {
  const auto first = static_cast<std::uint32_t>(nodes.size());
  for (const run::CallPath& path : row.paths) {
    CostNode node{path.parent == kNoParent ? CostNode::kNoParent : first + path.parent, path.function};
    node.cost = path.instructions;
    node.calls = path.calls;
    nodes.push_back(std::move(node));
  }
}

}  // namespace

std::vector<FunctionCount> functions_of(const run::Row& row) {
  const std::vector<std::uint64_t> whole = whole_paths(row);
  std::unordered_map<std::string, std::size_t> places;
  std::vector<FunctionCount> functions;
  for (std::size_t i = 0; i < row.paths.size(); ++i) {
    const auto [place, fresh] = places.try_emplace(row.paths[i].function, functions.size());
    if (fresh) functions.push_back({row.paths[i].function});
    FunctionCount& function = functions[place->second];
    function.self += row.paths[i].instructions;
    if (!calls_itself(row, i)) function.inclusive += whole[i];
  }
  std::ranges::stable_sort(functions, std::ranges::greater{}, &FunctionCount::self);
  return functions;
}

std::string folded_stacks(const Comparison& comparison) {
  std::string text;
  for (const run::Report& report : comparison.reports) {
    for (const run::Row& row : report.rows) {
      if (row.kind != run::RowKind::operation || row.samples.empty()) continue;
      std::vector<CostNode> nodes;
      add_paths(row, nodes);
      for (CostNode& node : nodes) node.cost = (node.cost + row.samples.size() / 2) / row.samples.size();
      text += folded(nodes, fmt::format("{};line {}", report.machine, row.line));
    }
  }
  return text;
}

std::string callgrind(const Comparison& comparison, std::size_t machine) {
  const run::Report& report = comparison.reports.at(machine);
  std::vector<CostNode> nodes;
  for (const run::Row& row : report.rows) add_paths(row, nodes);
  return callgrind(nodes, {comparison.program + " on " + report.machine, "Instructions", "instructions of the kernel"});
}

}  // namespace faultline::report
