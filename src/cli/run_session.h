#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/progress.h"
#include "cli/source.h"
#include "cli/sweep.h"
#include "machine/machine.h"
#include "report/cell.h"
#include "report/comparison.h"
#include "report/style.h"

namespace faultline::cli {

class Interrupt;

/// What is shown of functions.
struct FunctionOutput {
  std::optional<std::uint32_t> line;  // only of this line of the program
  std::string folded_path;            // empty: none; "-": standard output
  std::string callgrind_path;
};

enum class Format : std::uint8_t { table, mail };

/// Is the cost of each operation fitted over a sweep?
enum class Laws : std::uint8_t { hidden, shown };

struct RunOutput {
  Format format = Format::table;
  Laws laws = Laws::hidden;
  std::string json_path;  // empty: none; "-": standard output, and no tables
  report::Counted counted = report::Counted::differences;
  report::Colour colour = report::Colour::off;
  std::chrono::milliseconds time_limit{60'000};
  std::optional<FunctionOutput> functions;  // instructions are attributed to functions where this is asked for
  std::vector<cost::CostTable> costs;       // in place of those that are built in
  std::uint32_t rounds = 1;  // processes that each live run is repeated in; above 1, all runs are interleaved
};

/// Runs programs × parameters × machines in this order and prints a table for each program and set of parameters as
/// soon as it is complete. Interrupted, it prints what it had.
class RunSession {
 public:
  explicit RunSession(RunOutput output) : output_(std::move(output)) {}

  ExitStatus run(const std::vector<Source>& sources, const std::vector<std::unique_ptr<machine::Machine>>& machines,
                 const Sweep& sweep);

 private:
  using Machines = std::vector<std::unique_ptr<machine::Machine>>;
  using Settings = std::vector<std::pair<std::string, Setting>>;

  /// All of it `rounds` times, forwards and backwards in turn (A B, B A, …), so that what changes slowly on the machine
  /// meets all sides alike. A model counts the same every time and runs once.
  void run_rounds(const std::vector<Source>& sources, const Machines& machines, const Sweep& sweep,
                  Interrupt& interrupt);
  void run_one(const Source& source, const Machines& machines, const Settings& settings, Interrupt& interrupt);
  machine::Settings machine_settings(const Settings& set, const Interrupt& interrupt) const;
  static report::Comparison comparison_of(const Source& source, const Settings& set);
  void print_table(const report::Comparison& comparison);
  void print_rest();
  void print_laws(std::size_t programs);
  bool write_json();
  bool write_stacks();

  RunOutput output_;
  Progress progress_;
  ExitStatus status_ = ExitStatus::ok;
  std::size_t started_ = 0;
  std::size_t total_ = 0;
  std::mutex mutex_;  // guards what follows: the last resort of an interrupt reads it from another thread
  std::vector<report::Comparison> comparisons_;  // the last may be incomplete
  std::size_t printed_ = 0;
};

}  // namespace faultline::cli
