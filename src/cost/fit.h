#pragma once

#include <span>
#include <string>
#include <vector>

#include "cost/table.h"

namespace faultline::cost {

/// An operation of a program, over all its executions: what the model counted, and what the kernel executed.
struct Observation {
  Operation operation{};
  std::string program;
  std::uint32_t line = 0;
  std::string text;
  Counters counted;  // by the model, summed over `executions`
  std::uint64_t executions = 0;
  double instructions = 0;  // of the kernel, the mean of an execution, without:
  double restocking = 0;    // what the kernel spent meanwhile on its stocks of free pages, objects and random numbers
};

/// The costs that fit the observations of each operation best: none negative, and each observation's distance taken
/// relative to its size, so that small calls count as much as large ones. Operations without observations have no cost.
/// profile, kernel and held-out errors are left to the caller.
CostTable fit(std::span<const Observation> training);

/// What the table predicts for the observation; nothing where it knows no cost.
std::optional<double> predicted(const CostTable& table, const Observation& observation);

/// Writes the errors over `held_out` into the table's operations.
void judge(CostTable& table, std::span<const Observation> held_out);

}  // namespace faultline::cost
