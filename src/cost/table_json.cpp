#include "cost/table_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace faultline::cost {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

// Thrown and caught in this file only: the first wrong value ends the reading.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

const nlohmann::json& member(const nlohmann::json& object, const std::string& path, const char* key) {
  if (!object.is_object()) throw Wrong(fmt::format("{}: expected an object", path));
  const auto found = object.find(key);
  if (found == object.end()) throw Wrong(fmt::format("{} has no \"{}\"", path, key));
  return *found;
}

double number(const nlohmann::json& value, const std::string& path) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) {
    throw Wrong(fmt::format("{}: expected a number that is not negative", path));
  }
  return value.get<double>();
}

std::uint32_t count(const nlohmann::json& value, const std::string& path) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > UINT32_MAX) {
    throw Wrong(fmt::format("{}: expected a whole number below 2^32", path));
  }
  return value.get<std::uint32_t>();
}

std::string text(const nlohmann::json& value, const std::string& path) {
  if (!value.is_string()) throw Wrong(fmt::format("{}: expected a string", path));
  return value.get<std::string>();
}

OperationCost operation_of_json(const nlohmann::json& json, const std::string& path) {
  OperationCost cost;
  cost.fixed = number(member(json, path, "fixed"), path + ".fixed");
  const nlohmann::json& each = member(json, path, "each");
  if (!each.is_object()) throw Wrong(path + ".each: expected an object");
  for (const auto& [name, value] : each.items()) {
    const auto counter = counter_named(name);
    if (!counter) throw Wrong(fmt::format("{}.each: no counter is named \"{}\"", path, name));
    cost.trained.set(std::to_underlying(*counter));
    cost.each[std::to_underlying(*counter)] = number(value, fmt::format("{}.each.{}", path, name));
  }
  cost.rows = count(member(json, path, "rows"), path + ".rows");
  const nlohmann::json& error = member(json, path, "held_out");
  cost.error.median = number(member(error, path + ".held_out", "median"), path + ".held_out.median");
  cost.error.worst = number(member(error, path + ".held_out", "worst"), path + ".held_out.worst");
  cost.error.rows = count(member(error, path + ".held_out", "rows"), path + ".held_out.rows");
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
  try {
    const nlohmann::json json = nlohmann::json::parse(document);
    const std::string root = "the document";
    const std::uint32_t version = count(member(json, root, "faultline_costs"), "faultline_costs");
    if (version != kVersion) {
      throw Wrong(fmt::format("faultline_costs: it is of version {}, expected {}; calibrate again", version, kVersion));
    }
    CostTable table;
    table.profile = text(member(json, root, "profile"), "profile");
    table.kernel = text(member(json, root, "kernel"), "kernel");
    const nlohmann::json& operations = member(json, root, "operations");
    if (!operations.is_object()) throw Wrong("operations: expected an object");
    for (const auto& [name, value] : operations.items()) {
      const auto operation = operation_named(name);
      if (!operation) throw Wrong(fmt::format("operations: no operation is named \"{}\"", name));
      table.operations[std::to_underlying(*operation)] =
          operation_of_json(value, fmt::format("operations[\"{}\"]", name));
    }
    return table;
  } catch (const nlohmann::json::parse_error& error) {
    return std::unexpected(fmt::format("not JSON: at byte {}", error.byte));
  } catch (const nlohmann::json::exception&) {
    return std::unexpected("not JSON that can be read: a value is out of range");
  } catch (const Wrong& wrong) {
    return std::unexpected(wrong.what());
  }
}

}  // namespace faultline::cost
