#pragma once

#include <map>
#include <memory>
#include <vector>

#include "machine/machine.h"

namespace faultline::cli {

/// Runs one program on several machines: those that other machines do not disturb at the same time, on as many threads
/// as there are processors; the others by themselves.
class SideBySide {
 public:
  SideBySide(const std::vector<std::unique_ptr<machine::Machine>>& machines, const program::Program& program,
             machine::Settings settings)
      : machines_(machines), program_(program), settings_(std::move(settings)) {}

  /// The machine's report; asked for once for each, in any order.
  run::Report report(machine::Machine& machine);

 private:
  void run_those_beside_others();

  const std::vector<std::unique_ptr<machine::Machine>>& machines_;
  const program::Program& program_;
  machine::Settings settings_;
  std::map<const machine::Machine*, run::Report> reports_;
};

}  // namespace faultline::cli
