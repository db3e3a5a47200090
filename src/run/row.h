#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/counters.h"
#include "base/signal.h"
#include "program/position.h"

/// What a machine gives back for a program: figures by row, expectations, and how the run ended.
namespace faultline::run {

/// The state that a row worked on. Two rows may be compared only where VMAs, present and huge pages agree before the
/// operation; a field that a machine cannot see is empty and is not compared.
struct Shape {
  std::optional<std::uint64_t> vmas;
  std::optional<std::uint64_t> present;
  std::optional<std::uint64_t> writable;
  std::optional<std::uint64_t> huge;
  bool operator==(const Shape&) const = default;
};

/// What the samples of a row are.
enum class Metric : std::uint8_t {
  none,          // this machine times nothing (a model that no costs are known for)
  nanoseconds,   // measured, with spread
  instructions,  // counted, exact
  predicted,     // instructions, predicted from what was counted: one sample, the mean of all executions
};

/// A function on one path of calls, and what it executed there itself. Parents stand before their children.
struct CallPath {
  static constexpr std::uint32_t kNoParent = 0xffffffff;
  std::uint32_t parent = kNoParent;
  std::string function;
  std::uint64_t instructions = 0;  // summed over all samples of the row
  std::uint64_t calls = 0;
};

enum class RowKind : std::uint8_t { operation, measure };

/// The figures of one operation (one line of the program) or of one `measure` block, over all its executions.
struct Row {
  RowKind kind = RowKind::operation;
  std::uint32_t line = 0;
  std::string text;            // the operation as written, or the measure's name
  std::string measure;         // the measure block that holds the operation; empty outside of one
  std::uint64_t calls = 0;     // executions of the operation, repetitions of the block
  std::uint64_t failures = 0;  // calls that returned an error, accesses that ended in a signal
  Metric metric = Metric::none;
  std::vector<double> samples;  // one per timed execution, the clock's own cost removed
  /// Of predicted figures: by how much they may be wrong, as a fraction.
  std::optional<double> error;
  /// The processes that the samples come from: 1, or as many as there are samples, each the median of one process's.
  std::uint32_t rounds = 1;
  Counters counted;  // summed over counted_calls executions
  std::uint64_t counted_calls = 0;
  CounterSet known;  // which counters this machine can see for this row
  /// Where the instructions of the samples went, when that was asked for: their sum is the samples' sum.
  std::vector<CallPath> paths;
  Shape before;  // of the range that the operation names, at its first execution
  Shape after;
};

enum class CheckStatus : std::uint8_t {
  held,
  failed,
  skipped,    // this machine cannot tell, or the program did not get there
  elsewhere,  // it names other machines
};

/// One expectation, trailing result or `expect`, over all its evaluations: it fails if any evaluation failed.
struct Check {
  program::Position position;
  std::string text;
  CheckStatus status = CheckStatus::held;
  std::uint64_t evaluations = 0;
  std::string detail;  // the first failure: what was found; or why it was skipped
};

enum class Ending : std::uint8_t {
  completed,
  signal,       // the process was killed by the signal in `signal`
  timeout,      // the time limit passed; rows hold what was done until then
  interrupted,  // somebody asked the machine to stop; rows hold what was done until then
  unsupported,  // the machine cannot do an operation; `detail` names it
  misuse,       // the program asked for nonsense (a division by zero, an unaligned atomic)
  failed,       // the machine itself broke; `detail` says how
};

/// A program's run on one machine.
struct Report {
  std::string machine;  // "model:6.12", "live"
  std::string kernel;   // "Linux 6.18.44", "model of Linux 6.12 (x86-64)"
  std::vector<Row> rows;
  std::vector<Check> checks;
  Ending ending = Ending::completed;
  std::optional<Signal> signal;
  program::Position ended_at;
  std::string detail;
  std::vector<std::string> notes;  // what a reader of the figures must know (a counter that was not to be had)
};

}  // namespace faultline::run
