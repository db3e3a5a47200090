#include "cost/table_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "json/node.h"

namespace faultline::cost {
namespace {

using Json = nlohmann::ordered_json;
using json::Node;

constexpr int kVersion = 1;

Json operation_json(const OperationCost& cost) {
  Json each = Json::object();
  for (std::size_t i = 0; i < kCounters; ++i) {
    if (!cost.trained.test(i)) continue;
    each[std::string(counter_name(static_cast<Counter>(i)))] = std::stod(fmt::format("{:.1f}", cost.each[i]));
  }
  return {{"fixed", std::stod(fmt::format("{:.1f}", cost.fixed))},
          {"each", each},
          {"rows", cost.rows},
          {"held_out",
           {{"median", std::stod(fmt::format("{:.4f}", cost.error.median))},
            {"worst", std::stod(fmt::format("{:.4f}", cost.error.worst))},
            {"rows", cost.error.rows}}}};
}

double not_negative(const Node& node) {
  const auto value = node.as_number();
  if (!value || *value < 0) throw node.expected("a number that is not negative");
  return *value;
}

std::uint32_t small_count(const Node& node) {
  const auto value = node.as_count();
  if (!value || *value > UINT32_MAX) throw node.expected("a whole number below 2^32");
  return static_cast<std::uint32_t>(*value);
}

OperationCost operation_of(const Node& node) {
  OperationCost cost;
  cost.fixed = not_negative(node.at("fixed"));
  const Node each = node.at("each");
  each.each_member([&](const std::string& name, const Node& value) {
    const auto counter = counter_named(name);
    if (!counter) throw json::Wrong(fmt::format("{}: no counter is named \"{}\"", each.path(), name));
    cost.trained.set(std::to_underlying(*counter));
    cost.each[std::to_underlying(*counter)] = not_negative(value);
  });
  cost.rows = small_count(node.at("rows"));
  const Node error = node.at("held_out");
  cost.error.median = not_negative(error.at("median"));
  cost.error.worst = not_negative(error.at("worst"));
  cost.error.rows = small_count(error.at("rows"));
  return cost;
}

}  // namespace

std::string table_json(const CostTable& table) {
  const Json head{{"faultline_costs", kVersion}, {"profile", table.profile}, {"kernel", table.kernel}};
  std::string json = head.dump();
  json.pop_back();
  json += ",\n\"operations\":{";
  const char* separator = "\n";
  for (std::size_t i = 0; i < kOperations; ++i) {
    if (!table.operations[i]) continue;
    json += separator + Json(operation_name(static_cast<Operation>(i))).dump() + ":" +
            operation_json(*table.operations[i]).dump();
    separator = ",\n";
  }
  return json + "\n}}\n";
}

std::expected<CostTable, std::string> read_table(std::string_view document) {
  return json::read(document, [](const Node& root) {
    const Node version = root.at("faultline_costs");
    if (small_count(version) != kVersion) {
      throw json::Wrong(
          fmt::format("faultline_costs: it is of version {}, expected {}; calibrate again", version.count(), kVersion));
    }
    CostTable table;
    table.profile = root.at("profile").text();
    table.kernel = root.at("kernel").text();
    root.at("operations").each_member([&](const std::string& name, const Node& cost) {
      const auto operation = operation_named(name);
      if (!operation) throw json::Wrong(fmt::format("operations: no operation is named \"{}\"", name));
      table.operations[std::to_underlying(*operation)] = operation_of(cost.by(fmt::format("operations[\"{}\"]", name)));
    });
    return table;
  });
}

}  // namespace faultline::cost
