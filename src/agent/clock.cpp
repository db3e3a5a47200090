#include "agent/clock.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "agent/arch.h"

namespace faultline::agent {
namespace {

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

double measured_ticks_per_nanosecond() {
  constexpr std::uint64_t kWindow = 20'000'000;
  const std::uint64_t begin_ns = monotonic_ns();
  const std::uint64_t begin = arch::ticks_at_start();
  std::uint64_t end_ns = 0;
  do {
    end_ns = monotonic_ns();
  } while (end_ns - begin_ns < kWindow);
  const std::uint64_t end = arch::ticks_at_stop();
  return static_cast<double>(end - begin) / static_cast<double>(end_ns - begin_ns);
}

std::uint64_t cost_of_empty_window() {
  std::array<std::uint64_t, 1001> windows{};
  for (std::uint64_t& window : windows) {
    const std::uint64_t start = arch::ticks_at_start();
    const std::uint64_t stop = arch::ticks_at_stop();
    window = stop - start;
  }
  auto* middle = windows.begin() + windows.size() / 2;
  std::nth_element(windows.begin(), middle, windows.end());
  return *middle;
}

}  // namespace

Clock Clock::calibrated() {
  Clock clock;
  clock.ticks_per_nanosecond_ = arch::told_ticks_per_nanosecond();
  if (clock.ticks_per_nanosecond_ <= 0) clock.ticks_per_nanosecond_ = measured_ticks_per_nanosecond();
  clock.own_cost_ = cost_of_empty_window();
  return clock;
}

std::string Clock::note() const {
  std::array<char, 160> text{};
  std::snprintf(
      text.data(), text.size(),
      "times: %.2f ns was taken off each sample, the median cost of an empty window; the clock ticks every %.2f ns",
      static_cast<double>(own_cost_) / ticks_per_nanosecond_, 1 / ticks_per_nanosecond_);
  return text.data();
}

}  // namespace faultline::agent
