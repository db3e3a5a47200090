#pragma once

#include <unistd.h>

#include <cstdint>
#include <string>

#include "agent/arch.h"
#include "agent/clock.h"
#include "agent/marks.h"
#include "run/kernel.h"

namespace faultline::agent {

/// What an operation is measured with: the processor's clock, or, under an emulator whose plugin counts, marks around
/// it. The plugin counts what the kernel executes; the operation's own instructions in user mode are added here.
class Meter {
 public:
  static Meter timing(const Clock& clock) { return {clock, run::Metric::nanoseconds}; }
  static Meter counting() { return {Clock{}, run::Metric::instructions}; }

  /// Measures nothing.
  static Meter none() { return {Clock{}, run::Metric::none}; }

  run::Metric metric() const { return metric_; }
  bool marks() const { return metric_ == run::Metric::instructions; }
  std::string note() const { return marks() ? "" : clock_.note(); }

  std::uint64_t begin() const {
    if (metric_ == run::Metric::none) return 0;
    if (!marks()) return arch::ticks_at_start();
    send(run::Mark::window_begins, window_);
    return 0;
  }
  std::uint64_t end() const {
    if (metric_ == run::Metric::none) return 0;
    if (!marks()) return arch::ticks_at_stop();
    send(run::Mark::window_ends);
    return 0;
  }
  /// What begin() and end() gave, as a sample of an operation of that many instructions.
  double amount(std::uint64_t begin, std::uint64_t end, std::uint64_t instructions) const {
    if (metric_ == run::Metric::none) return 0;
    return marks() ? static_cast<double>(instructions) : clock_.nanoseconds(begin, end);
  }

  /// The windows until operation_ends() belong to an operation of that row.
  void operation_begins(std::uint32_t row, std::uint32_t flags) { window_ = run::mark_argument(row, flags); }
  void operation_ends() {
    if (!marks()) return;
    send(run::Mark::operation_ends, window_);
    // What the kernel put off (RCU) has to be done now and then, as nothing else interrupts this process.
    constexpr std::uint32_t kOperationsBetweenPauses = 64;
    if (++operations_ % kOperationsBetweenPauses == 0) usleep(1);
  }
  void repetition_begins(std::uint32_t row) const {
    if (marks()) send(run::Mark::repetition_begins, row);
  }
  void repetition_ends(std::uint32_t row, std::uint32_t flags) const {
    if (marks()) send(run::Mark::repetition_ends, run::mark_argument(row, flags));
  }

 private:
  Meter(const Clock& clock, run::Metric metric) : clock_(clock), metric_(metric) {}
  Clock clock_;
  run::Metric metric_;
  std::uint32_t window_ = 0;
  std::uint32_t operations_ = 0;
};

}  // namespace faultline::agent
