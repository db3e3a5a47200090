#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>

namespace faultline::bench {

/// Google Benchmark's console, and after it what the project promises of itself: how many times faster the model is
/// than the kernel of this machine, measured side by side in this run, and how cost grows.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  /// The median over repetitions, in nanoseconds, by the benchmark's full name.
  std::map<std::string, double> medians_;
};

}  // namespace faultline::bench
