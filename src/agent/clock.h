#pragma once

#include <cstdint>
#include <string>

namespace faultline::agent {

/// Time as the processor counts it, with its own cost known.
class Clock {
 public:
  /// Measures the counter's rate (some milliseconds, where the processor does not tell it) and the cost of an empty
  /// window.
  static Clock calibrated();

  /// Nanoseconds of a window, an empty window's cost taken off; never negative.
  double nanoseconds(std::uint64_t start, std::uint64_t stop) const {
    const std::uint64_t ticks = stop - start;
    return ticks <= own_cost_ ? 0 : static_cast<double>(ticks - own_cost_) / ticks_per_nanosecond_;
  }
  /// What a reader of the figures must know: resolution and the cost that was taken off.
  std::string note() const;

 private:
  std::uint64_t own_cost_ = 0;  // in ticks: the median of many empty windows
  double ticks_per_nanosecond_ = 1;
};

}  // namespace faultline::agent
