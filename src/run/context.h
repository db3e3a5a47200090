#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include "program/machine_pattern.h"
#include "program/program.h"
#include "run/ledger.h"
#include "run/plan.h"
#include "run/step.h"

namespace faultline::run {

/// What all processes and threads of one run share. Everything referred to outlives the run.
struct Context {
  const program::Program& program;
  const Plan& plan;
  Ledger& ledger;
  const program::MachineId& machine;
  std::span<const std::pair<std::string, std::uint64_t>> params;  // replace the values of `param` statements
  StepListener* listener = nullptr;
  /// For a machine that nobody can interrupt from outside: when to give up.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// Looked at wherever the clock is.
  std::stop_token stop{};
};

/// Whether execution continues after a statement.
enum class Flow : std::uint8_t { go_on, stop };

/// What an execution of an operation is for. Where counting disturbs timing, a repeated measure block counts in its
/// even repetitions and times in its odd ones; everything else does both.
enum class Sampling : std::uint8_t { both, count_only, time_only };

/// A measure block that is being executed, innermost first.
struct MeasureFrame {
  MeasureFrame* outer = nullptr;
  std::uint32_t row = kNoIndex;
  /// Do its operations add their counts to it? If not, the counters are read around the whole repetition.
  enum class Counts : std::uint8_t { by_operation, by_repetition } counts = Counts::by_operation;
  double amount = 0;       // of this repetition's operations
  double uncertainty = 0;  // of a predicted amount
  /// Were all operations of this repetition timed, or predicted? Only then is their sum a sample.
  enum class Timed : std::uint8_t { all, not_all } timed = Timed::all;
};

}  // namespace faultline::run
