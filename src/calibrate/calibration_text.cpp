#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "calibrate/calibration.h"
#include "cost/table_json.h"

namespace faultline::calibrate {
namespace {

using cost::Observation;
using cost::Operation;

double error_of(const cost::CostTable& table, const Observation& one) {
  const auto predicted = cost::predicted(table, one);
  return predicted ? *predicted / one.instructions - 1 : NAN;
}

std::string costs_text(const cost::OperationCost& cost) {
  std::string text = fmt::format("{:.0f}", cost.fixed);
  for (std::size_t i = 0; i < kCounters; ++i) {
    if (cost.each[i] < 0.5) continue;
    text += fmt::format(" + {:.0f}·{}", cost.each[i], counter_name(static_cast<Counter>(i)));
  }
  return text;
}

std::string errors(const cost::CostTable& table) {
  std::string text = fmt::format("{:<29} {:>8} {:>9} {:>8} {:>8}   {}\n", "operation", "training", "held out", "median",
                                 "worst", "instructions");
  for (std::size_t i = 0; i < cost::kOperations; ++i) {
    const auto& cost = table.operations[i];
    if (!cost) continue;
    const bool judged = cost->error.rows > 0;
    const auto percent = [&](double value) { return judged ? fmt::format("{:.1f}%", value * 100) : "–"; };
    // fmt counts a dash as one column, as terminals do.
    text += fmt::format("{:<29} {:>8} {:>9} {:>8} {:>8}   {}\n", operation_name(static_cast<Operation>(i)), cost->rows,
                        cost->error.rows, percent(cost->error.median), percent(cost->error.worst), costs_text(*cost));
  }
  return text;
}

std::string overall(const Calibration& calibration) {
  std::vector<double> all;
  std::vector<double> with_stocks;
  double stocks = 0;
  double executed = 0;
  for (const Observation& one : calibration.held_out) {
    const auto predicted = cost::predicted(calibration.table, one);
    if (!predicted) continue;
    all.push_back(std::abs(*predicted / one.instructions - 1));
    with_stocks.push_back(std::abs(*predicted / (one.instructions + one.restocking) - 1));
    const auto executions = static_cast<double>(one.executions);
    stocks += executions * one.restocking;
    executed += executions * (one.instructions + one.restocking);
  }
  if (all.empty()) return "no held-out line could be predicted\n";
  std::ranges::sort(all);
  std::ranges::sort(with_stocks);
  return fmt::format(
      "all: {} held-out lines, error median {:.1f}%, worst {:.1f}%\n"
      "left out of the figures: what refills the kernel's lists of free pages and objects, {:.1f}% of what those lines "
      "executed; "
      "held against figures with it, the error is {:.1f}%, worst {:.1f}%\n",
      all.size(), all[all.size() / 2] * 100, all.back() * 100, stocks / executed * 100,
      with_stocks[with_stocks.size() / 2] * 100, with_stocks.back() * 100);
}

std::string lines(const cost::CostTable& table, const std::vector<Observation>& observations) {
  std::vector<const Observation*> sorted;
  for (const Observation& one : observations) sorted.push_back(&one);
  std::ranges::stable_sort(sorted, [&](const Observation* a, const Observation* b) {
    const auto size = [&](const Observation* one) {
      const double error = error_of(table, *one);
      return std::isnan(error) ? -1 : std::abs(error);
    };
    return size(a) > size(b);
  });
  std::string text = fmt::format("\n{:>12} {:>12} {:>8}   line\n", "counted", "predicted", "error");
  for (const Observation* one : sorted) {
    const auto predicted = cost::predicted(table, *one);
    text += fmt::format("{:>12.0f} {:>12} {:>8}   {}:{}: {}\n", one->instructions,
                        predicted ? fmt::format("{:.0f}", *predicted) : "–",
                        predicted ? fmt::format("{:+.1f}%", (*predicted / one->instructions - 1) * 100) : "–",
                        one->program, one->line, one->text);
  }
  return text;
}

nlohmann::ordered_json observation_json(const cost::CostTable& table, const Observation& one) {
  nlohmann::ordered_json json{{"program", one.program},       {"line", one.line},
                              {"operation", one.text},        {"cost", cost::operation_name(one.operation)},
                              {"executions", one.executions}, {"instructions", one.instructions},
                              {"restocking", one.restocking}};
  if (const auto predicted = cost::predicted(table, one)) json["predicted"] = *predicted;
  nlohmann::ordered_json counted = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (one.counted[counter] != 0) counted[std::string(counter_name(counter))] = one.counted[counter];
  }
  json["counters"] = counted;
  return json;
}

}  // namespace

std::string calibration_text(const Calibration& calibration, Rows rows) {
  const cost::CostTable& table = calibration.table;
  std::string text =
      fmt::format("model:{} against {}\n\n{}\n{}", table.profile, table.kernel, errors(table), overall(calibration));
  for (const std::string& line : calibration.left_out) text += "left out: " + line + "\n";
  return rows == Rows::shown ? text + lines(table, calibration.held_out) : text;
}

std::string calibration_json(const Calibration& calibration) {
  nlohmann::ordered_json json;
  json["table"] = nlohmann::ordered_json::parse(cost::table_json(calibration.table));
  for (const auto& [name, observations] :
       {std::pair("training", &calibration.training), std::pair("held_out", &calibration.held_out)}) {
    json[name] = nlohmann::ordered_json::array();
    for (const Observation& one : *observations) json[name].push_back(observation_json(calibration.table, one));
  }
  json["left_out"] = calibration.left_out;
  return json.dump(1) + "\n";
}

}  // namespace faultline::calibrate
