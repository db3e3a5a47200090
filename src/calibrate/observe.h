#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cost/fit.h"
#include "machine/machine.h"
#include "mm/profile.h"
#include "program/program.h"

/// What a kernel's operations cost, found by holding what the model counts against what the kernel executes.
namespace faultline::calibrate {

/// A program and its name.
struct Named {
  std::string name;
  const program::Program* program = nullptr;
};

/// What one program tells: an observation for each of its lines, and which lines tell nothing.
struct Observed {
  std::vector<cost::Observation> lines;
  std::vector<std::string> left_out;  // "fork.fl:12: load(…): it took 2 faults on vm:6.12, 1 on the model"
  std::string kernel;                 // that ran, as run::Report::kernel
};

/// A line that is executed less often than this shows the state of the kernel's free lists more than its cost.
inline constexpr std::uint64_t kFewestExecutions = 8;

/// Operations in a measure block of this name get the kernel's free lists ready, and are no observations.
inline constexpr std::string_view kWarmUp = "warm-up";

/// Runs the program on the model and on the machine, which counts instructions. Lines that fail or that take other
/// faults on the machine than on the model are left out. The error says why the machine or the model could not run it.
std::expected<Observed, std::string> observe(const Named& named, const mm::Profile& profile, machine::Machine& machine,
                                             const machine::Settings& settings);

}  // namespace faultline::calibrate
