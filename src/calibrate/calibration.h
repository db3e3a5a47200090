#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/observe.h"

namespace faultline::calibrate {

/// A table of costs, and what it was made of.
struct Calibration {
  cost::CostTable table;
  std::vector<cost::Observation> training;
  std::vector<cost::Observation> held_out;
  std::vector<std::string> left_out;
};

/// Told before each program runs: "[3/15] train/map.fl on vm:6.12".
using Progress = std::function<void(const std::string&)>;

/// Fits the costs to the training programs and judges them by the held-out ones.
std::expected<Calibration, std::string> calibrate(const std::vector<Named>& training,
                                                  const std::vector<Named>& held_out, const mm::Profile& profile,
                                                  machine::Machine& machine, const machine::Settings& settings,
                                                  const Progress& progress);

/// The errors by operation, then the costs; with `rows` every held-out line.
enum class Rows : std::uint8_t { hidden, shown };
std::string calibration_text(const Calibration& calibration, Rows rows);
/// The same as JSON: the table, and all observations with what is predicted for them.
std::string calibration_json(const Calibration& calibration);

}  // namespace faultline::calibrate
