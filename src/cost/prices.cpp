#include "cost/prices.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/machine_pattern.h"

namespace faultline::cost {
namespace {

/// "arm64/" of "arm64/6.12", nothing of "6.12".
std::string_view architecture(std::string_view profile) { return profile.substr(0, profile.find('/') + 1); }
std::string_view version(std::string_view profile) { return profile.substr(profile.find('/') + 1); }

bool newer_or_same(const CostTable& a, const CostTable& b) {
  return program::version_at_least(version(a.profile), version(b.profile));
}

}  // namespace

Prices::Prices(const CostTable& table, std::span<const CostTable> others) : table_(table) {
  for (const CostTable& other : others) {
    if (architecture(other.profile) == architecture(table.profile) && other.profile != table.profile) {
      others_.push_back(other);
    }
  }
  // Newer kernels first, oldest of them first: what a kernel does not know yet came with one of those.
  std::ranges::stable_sort(others_, [&](const CostTable& a, const CostTable& b) {
    const bool a_newer = newer_or_same(a, table_);
    if (a_newer != newer_or_same(b, table_)) return a_newer;
    return a_newer ? !newer_or_same(a, b) : newer_or_same(a, b) && !newer_or_same(b, a);
  });
}

std::optional<Prices::Borrowed> Prices::cheapest_visit() const {
  std::optional<Borrowed> cheapest;
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto& cost = table_.operations[i];
    if (!cost || cost->each[std::to_underlying(Counter::vma_visits)] <= 0) continue;
    const double visit = cost->each[std::to_underlying(Counter::vma_visits)];
    if (cheapest && cheapest->cost <= visit) continue;
    cheapest =
        Borrowed{visit, fmt::format("the cheapest visit, that of {}", operation_name(static_cast<Operation>(i)))};
  }
  return cheapest;
}

std::optional<Prices::Borrowed> Prices::borrow(Operation operation, Counter counter) const {
  if (counter == Counter::vmas_checked) return cheapest_visit();
  // A fault of the kernel's own, from which it comes back without the page.
  if (counter == Counter::fault_nested) {
    const auto& mincore = table_.of(Operation::mincore);
    if (!mincore || !mincore->trained.test(std::to_underlying(Counter::fault_signal))) return std::nullopt;
    return Borrowed{mincore->each[std::to_underlying(Counter::fault_signal)], "a fault of mincore's that it gives up"};
  }
  for (const CostTable& other : others_) {
    const auto& cost = other.of(operation);
    if (cost && cost->trained.test(std::to_underlying(counter))) {
      return Borrowed{cost->each[std::to_underlying(counter)], other.profile};
    }
  }
  return std::nullopt;
}

std::optional<Prediction> Prices::predict(Operation operation, const Counters& counted) {
  const auto& cost = table_.of(operation);
  if (!cost) return std::nullopt;
  static const CounterSet kPriced = priced();
  Prediction prediction{cost->fixed, 0};
  double lent = 0;
  for (std::size_t i = 0; i < kCounters; ++i) {
    if (!kPriced.test(i)) continue;
    const auto times = static_cast<double>(occurrences(counted, static_cast<Counter>(i)));
    if (times == 0) continue;
    if (cost->trained.test(i)) {
      prediction.instructions += times * cost->each[i];
      continue;
    }
    std::optional<Borrowed>& borrowed = borrowed_[std::to_underlying(operation)][i];
    if (!borrowed) borrowed = borrow(operation, static_cast<Counter>(i));
    if (!borrowed) return std::nullopt;
    lent += times * borrowed->cost;
  }
  prediction.uncertainty = prediction.instructions * cost->error.worst + lent;
  prediction.instructions += lent;
  return prediction;
}

std::vector<std::string> Prices::notes() const {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < kOperations; ++i) {
    for (std::size_t j = 0; j < kCounters; ++j) {
      const auto& borrowed = borrowed_[i][j];
      if (!borrowed) continue;
      notes.push_back(
          fmt::format("this kernel was never seen to do this in {}: {}; {:.0f} instructions each are taken "
                      "from {}",
                      operation_name(static_cast<Operation>(i)), counter_title(static_cast<Counter>(j)), borrowed->cost,
                      borrowed->from));
    }
  }
  return notes;
}

}  // namespace faultline::cost
