#pragma once

#include <chrono>
#include <memory>
#include <mutex>
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

struct RunOutput {
  std::string json_path;  // empty: none; "-": standard output, and no tables
  report::Counted counted = report::Counted::differences;
  report::Colour colour = report::Colour::off;
  std::chrono::milliseconds time_limit{60'000};
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

  void run_one(const Source& source, const Machines& machines, const Settings& settings, class Interrupt& interrupt);
  void print_table(const report::Comparison& comparison);
  void print_rest();
  bool write_json();

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
