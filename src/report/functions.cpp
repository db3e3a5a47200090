// What the paths of calls say of single functions, and the formats of other tools.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "report/format.h"
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

std::string stack(const run::Row& row, std::size_t path) {
  std::string text = row.paths[path].function;
  for (std::uint32_t above = row.paths[path].parent; above != kNoParent; above = row.paths[above].parent) {
    text.insert(0, row.paths[above].function + ";");
  }
  return text;
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
      for (std::size_t i = 0; i < row.paths.size(); ++i) {
        const std::uint64_t count = (row.paths[i].instructions + row.samples.size() / 2) / row.samples.size();
        if (count == 0) continue;
        text += fmt::format("{};line {};{} {}\n", report.machine, row.line, stack(row, i), count);
      }
    }
  }
  return text;
}

std::string callgrind(const Comparison& comparison, std::size_t machine) {
  const run::Report& report = comparison.reports.at(machine);
  struct Function {
    std::uint64_t self = 0;
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> called;  // calls, instructions
  };
  std::map<std::string, Function> functions;
  for (const run::Row& row : report.rows) {
    const std::vector<std::uint64_t> whole = whole_paths(row);
    for (std::size_t i = 0; i < row.paths.size(); ++i) {
      const run::CallPath& path = row.paths[i];
      functions[path.function].self += path.instructions;
      if (path.parent == kNoParent) continue;
      auto& [calls, instructions] = functions[row.paths[path.parent].function].called[path.function];
      calls += path.calls;
      instructions += whole[i];
    }
  }
  std::string text = fmt::format(
      "# callgrind format\nversion: 1\ncreator: faultline\ncmd: {} on {}\npositions: line\nevents: Instructions\n",
      printable(comparison.program, 200), report.machine);
  for (const auto& [name, function] : functions) {
    text += fmt::format("\nfn={}\n0 {}\n", name, function.self);
    for (const auto& [called, cost] : function.called) {
      text += fmt::format("cfn={}\ncalls={} 0\n0 {}\n", called, cost.first, cost.second);
    }
  }
  return text;
}

}  // namespace faultline::report
