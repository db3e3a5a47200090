#include "calibrate/calibration.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace faultline::calibrate {
namespace {

/// Runs programs one after the other, and gathers what they tell.
class Gathering {
 public:
  Gathering(const mm::Profile& profile, machine::Machine& machine, const machine::Settings& settings,
            const Progress& progress, std::size_t total)
      : profile_(profile), machine_(machine), settings_(settings), progress_(progress), total_(total) {}

  std::expected<std::vector<cost::Observation>, std::string> observe_all(const std::vector<Named>& programs) {
    std::vector<cost::Observation> lines;
    for (const Named& named : programs) {
      progress_(fmt::format("[{}/{}] {} on {}", ++done_, total_, named.name, machine_.name()));
      auto observed = observe(named, profile_, machine_, settings_);
      if (!observed) return std::unexpected(observed.error());
      std::ranges::move(observed->lines, std::back_inserter(lines));
      std::ranges::move(observed->left_out, std::back_inserter(left_out));
      kernel = std::move(observed->kernel);
    }
    return lines;
  }

  std::vector<std::string> left_out;
  std::string kernel;

 private:
  const mm::Profile& profile_;
  machine::Machine& machine_;
  const machine::Settings& settings_;
  const Progress& progress_;
  std::size_t total_;
  std::size_t done_ = 0;
};

}  // namespace

std::expected<Calibration, std::string> calibrate(const std::vector<Named>& training,
                                                  const std::vector<Named>& held_out, const mm::Profile& profile,
                                                  machine::Machine& machine, const machine::Settings& settings,
                                                  const Progress& progress) {
  Gathering gathering(profile, machine, settings, progress, training.size() + held_out.size());
  Calibration calibration;
  auto trained = gathering.observe_all(training);
  if (!trained) return std::unexpected(trained.error());
  auto held = gathering.observe_all(held_out);
  if (!held) return std::unexpected(held.error());
  calibration.training = std::move(*trained);
  calibration.held_out = std::move(*held);
  calibration.left_out = std::move(gathering.left_out);
  calibration.table = cost::fit(calibration.training);
  calibration.table.profile = profile.name;
  calibration.table.kernel = std::move(gathering.kernel);
  cost::judge(calibration.table, calibration.held_out);
  return calibration;
}

}  // namespace faultline::calibrate
