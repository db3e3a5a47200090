#include "cost/fit.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>

#include "cost/share.h"
#include "stats/nonnegative.h"
#include "stats/summary.h"

namespace faultline::cost {
namespace {

double per_execution(const Observation& observation, std::size_t counter) {
  return static_cast<double>(occurrences(observation.counted, static_cast<Counter>(counter))) /
         static_cast<double>(observation.executions);
}

/// Columns of the fit: what happens in several operations through the same code has one cost for all of them.
struct Column {
  Counter counter;
  Share share;
  auto operator<=>(const Column&) const = default;
};

/// What the observations are fitted by: a fixed cost for each operation, and columns.
class Design {
 public:
  explicit Design(std::span<const Observation> training) {
    for (const Observation& one : training) {
      if (one.instructions <= 0 || one.executions == 0) continue;
      seen_.push_back(&one);
      fixed_.try_emplace(one.operation, 0);
      for (std::size_t i = 0; i < kCounters; ++i) {
        if (priced().test(i) && per_execution(one, i) != 0) columns_.try_emplace(column(one.operation, i), 0);
      }
    }
  }

  CostTable solve() {
    std::vector<std::vector<double>> matrix;
    for (const auto& [operation, cost] : fixed_) {
      matrix.push_back(relative([&](const Observation& one) { return one.operation == operation ? 1.0 : 0.0; }));
    }
    for (const auto& [key, cost] : columns_) {
      const auto counter = static_cast<std::size_t>(std::to_underlying(key.counter));
      matrix.push_back(relative([&](const Observation& one) {
        return column(one.operation, counter) == key ? per_execution(one, counter) : 0.0;
      }));
    }
    const std::vector<double> costs = stats::nonnegative_least_squares(matrix, std::vector<double>(seen_.size(), 1.0));
    std::size_t next = 0;
    for (auto& [operation, cost] : fixed_) cost = costs[next++];
    for (auto& [key, cost] : columns_) cost = costs[next++];
    return table();
  }

 private:
  static Column column(Operation operation, std::size_t counter) {
    const auto which = static_cast<Counter>(counter);
    return {which, share_of(operation, which)};
  }

  template <class Value>
  std::vector<double> relative(Value value) const {
    std::vector<double> column;
    for (const Observation* one : seen_) column.push_back(value(*one) / one->instructions);
    return column;
  }

  CostTable table() const {
    CostTable table;
    for (const auto& [operation, fixed] : fixed_) {
      OperationCost cost;
      cost.fixed = fixed;
      for (std::size_t i = 0; i < kCounters; ++i) {
        const auto found = columns_.find(column(operation, i));
        if (found == columns_.end()) continue;
        cost.trained.set(i);
        cost.each[i] = found->second;
      }
      cost.rows = static_cast<std::uint32_t>(
          std::ranges::count_if(seen_, [&](const Observation* one) { return one->operation == operation; }));
      table.operations[std::to_underlying(operation)] = cost;
    }
    return table;
  }

  std::vector<const Observation*> seen_;
  std::map<Operation, double> fixed_;
  std::map<Column, double> columns_;
};

}  // namespace

CostTable fit(std::span<const Observation> training) { return Design(training).solve(); }

std::optional<double> predicted(const CostTable& table, const Observation& observation) {
  const auto& cost = table.of(observation.operation);
  if (!cost) return std::nullopt;
  double sum = cost->fixed;
  for (std::size_t i = 0; i < kCounters; ++i) {
    if (!priced().test(i)) continue;
    const double times = per_execution(observation, i);
    if (times != 0 && !cost->trained.test(i)) return std::nullopt;
    sum += times * cost->each[i];
  }
  return sum;
}

void judge(CostTable& table, std::span<const Observation> held_out) {
  std::array<std::vector<double>, kOperations> errors;
  for (const Observation& one : held_out) {
    if (const auto prediction = predicted(table, one)) {
      errors[std::to_underlying(one.operation)].push_back(std::abs(*prediction / one.instructions - 1));
    }
  }
  for (std::size_t i = 0; i < kOperations; ++i) {
    if (!table.operations[i]) continue;
    HeldOutError& error = table.operations[i]->error;
    error = {};
    if (errors[i].empty()) continue;
    error = {*stats::median(errors[i]), std::ranges::max(errors[i]), static_cast<std::uint32_t>(errors[i].size())};
  }
}

}  // namespace faultline::cost
