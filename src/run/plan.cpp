#include "run/plan.h"

#include <type_traits>

namespace faultline::run {
namespace {

using namespace program;

class Planner {
 public:
  Plan take() && { return std::move(plan_); }

  std::vector<PlannedStatement> block(const Block& statements, const std::string& measure) {
    std::vector<PlannedStatement> planned;
    planned.reserve(statements.size());
    for (const Statement& s : statements) planned.push_back(statement(s, measure));
    return planned;
  }

  void body(const Block& statements) { plan_.body = block(statements, ""); }

 private:
  PlannedStatement statement(const Statement& s, const std::string& measure) {
    PlannedStatement planned;
    planned.statement = &s;
    std::visit(
        [&](const auto& node) {
          using Node = std::decay_t<decltype(node)>;
          if constexpr (std::is_same_v<Node, SystemCall> || std::is_same_v<Node, Access>) {
            planned.row = row(RowKind::operation, s, s.text, measure);
            if (node.assertion) planned.check = check(s);
          } else if constexpr (std::is_same_v<Node, PlaceCode>) {
            planned.row = row(RowKind::operation, s, s.text, measure);
          } else if constexpr (std::is_same_v<Node, Expect>) {
            planned.check = check(s);
          } else if constexpr (std::is_same_v<Node, Measure>) {
            nest(planned, node.body, node.name);
            planned.row = row(RowKind::measure, s, node.name, measure);
          } else if constexpr (std::is_same_v<Node, Child> || std::is_same_v<Node, Threads>) {
            nest(planned, node.body, measure);
            planned.spawns = Spawns::yes;
          } else if constexpr (std::is_same_v<Node, Repeat> || std::is_same_v<Node, For>) {
            nest(planned, node.body, measure);
          }
        },
        s.node);
    return planned;
  }

  void nest(PlannedStatement& planned, const Block& statements, const std::string& measure) {
    planned.body = block(statements, measure);
    for (const PlannedStatement& inner : planned.body) {
      if (inner.spawns == Spawns::yes) planned.spawns = Spawns::yes;
    }
  }

  std::uint32_t row(RowKind kind, const Statement& s, std::string text, const std::string& measure) {
    plan_.rows.push_back({kind, s.position.line, std::move(text), measure});
    return static_cast<std::uint32_t>(plan_.rows.size() - 1);
  }

  std::uint32_t check(const Statement& s) {
    plan_.checks.push_back({s.position, s.text});
    return static_cast<std::uint32_t>(plan_.checks.size() - 1);
  }

  Plan plan_;
};

}  // namespace

std::optional<std::uint32_t> Plan::measure_row(std::string_view name) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kind == RowKind::measure && rows[i].text == name) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

Plan make_plan(const Program& program) {
  Planner planner;
  planner.body(program.body);
  return std::move(planner).take();
}

}  // namespace faultline::run
