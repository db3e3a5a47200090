#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cost/table.h"
#include "mm/system.h"
#include "mm/trace.h"
#include "program/machine_pattern.h"
#include "program/program.h"
#include "run/case.h"
#include "run/row.h"
#include "run/step.h"

/// What runs a program: the model or the kernel of this machine, behind one interface.
namespace faultline::machine {

/// Does the model walk its whole state after every operation? Slow; for tests.
enum class CheckInvariants : std::uint8_t { never, after_each_operation };

/// Are instructions attributed to functions? Only on vm.
enum class Attribute : std::uint8_t { nothing, functions };

struct Settings {
  std::vector<std::pair<std::string, std::uint64_t>> params;  // replace the values of `param` statements
  std::chrono::milliseconds time_limit{60'000};               // a run that takes longer ends in Ending::timeout
  std::stop_token stop;                                       // a run that is asked to ends in Ending::interrupted
  mm::Tunables tunables;                                      // model only: a real kernel has its own
  std::vector<cost::CostTable> costs;                         // model only: in place of built-in ones
  Attribute attribute = Attribute::nothing;
  CheckInvariants check_invariants = CheckInvariants::never;  // model only: a breach ends in Ending::failed
};

/// May other machines run at the same time? Not where times are measured.
enum class Beside : std::uint8_t { nothing, others };

class Machine {
 public:
  virtual ~Machine() = default;
  /// What `expect … on PATTERN` is matched against.
  virtual const program::MachineId& id() const = 0;
  /// As a person writes it: "model:6.12", "live".
  virtual std::string name() const = 0;
  /// What it is: "Linux 6.18.44 (x86-64)", "model of Linux 6.12 (x86-64)".
  virtual std::string kernel() const = 0;
  virtual Beside beside() const { return Beside::nothing; }
  /// Runs the program from its start in a fresh process. Never throws and never ends the caller: how it went is in
  /// Report::ending. A `params` name that the program does not have ends in Ending::misuse.
  virtual run::Report run(const program::Program& program, const Settings& settings) = 0;
  /// How many cases are best played in one go.
  virtual std::size_t cases_together() const { return 50; }
  /// Plays each case from its start in a fresh process. Its records in order, or why the machine could not.
  virtual std::expected<std::vector<run::CaseRecord>, std::string> play(const std::vector<run::Case>& cases) = 0;
};

/// A machine from its name: `model:PROFILE` (mm::parse_profile) or `live`. The error says what was expected.
std::expected<std::unique_ptr<Machine>, std::string> make_machine(std::string_view name);

/// Runs the program on a model and tells what happens: `steps` hears of every operation, `decisions` of every decision
/// of the model within it (between its begin and end).
run::Report explain(const mm::Profile& profile, const program::Program& program, const Settings& settings,
                    run::StepListener& steps, mm::Observer& decisions);

}  // namespace faultline::machine
