#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/counters.h"
#include "cost/operation.h"

namespace faultline::cost {

/// How far predictions were from what was counted, over programs that had no part in fitting: fractions of the counted
/// figure.
struct HeldOutError {
  double median = 0;
  double worst = 0;
  std::uint32_t rows = 0;  // that were held against a prediction; 0 where none was
  bool operator==(const HeldOutError&) const = default;
};

/// What one operation costs: instructions for the call itself, and for each thing that it counts.
struct OperationCost {
  double fixed = 0;
  std::array<double, kCounters> each{};
  /// What the training programs counted at least once; of all else the cost is not known.
  CounterSet trained;
  std::uint32_t rows = 0;  // that it was fitted to
  HeldOutError error;
  bool operator==(const OperationCost&) const = default;
};

/// What a kernel's operations cost.
struct CostTable {
  std::string profile;  // the model that counts what is priced here: "6.12", "arm64/6.12"
  std::string kernel;   // that was counted: "Linux 6.12.117+deb13-cloud-amd64, … (x86-64) under QEMU"
  std::array<std::optional<OperationCost>, kOperations> operations;
  bool operator==(const CostTable&) const = default;

  const std::optional<OperationCost>& of(Operation operation) const {
    return operations[std::to_underlying(operation)];
  }
};

/// The counters that may have a cost. The others repeat what these say (a seal check stands beside a VMA's visit), and
/// no fit could tell the two apart.
CounterSet priced();

/// How often something with a cost happened: VMAs visited by the work, without those checked before it, and else the
/// counter itself.
std::uint64_t occurrences(const Counters& counted, Counter counter);

}  // namespace faultline::cost
