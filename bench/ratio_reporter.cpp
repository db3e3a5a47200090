#include "ratio_reporter.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace faultline::bench {

void RatioReporter::ReportRuns(const std::vector<Run>& runs) {
  ConsoleReporter::ReportRuns(runs);
  for (const Run& run : runs) {
    const bool median = run.run_type == Run::RT_Aggregate && run.aggregate_name == "median";
    if (median || run.repetitions <= 1) {
      medians_[run.run_name.str()] = run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit) * 1e9;
    }
  }
}

void RatioReporter::Finalize() {
  ConsoleReporter::Finalize();
  std::puts("\nRatios of medians, both sides measured in this run");
  for (const auto& [name, model] : medians_) {
    const auto kernel = medians_.find("kernel" + name.substr(std::min(name.size(), std::string("model").size())));
    if (!name.starts_with("model/") || kernel == medians_.end()) continue;
    std::printf("  %-34s model %10.1f ns   kernel %10.1f ns   model is %6.1f times faster\n", name.c_str() + 6, model,
                kernel->second, kernel->second / model);
  }
  const auto first = medians_.find("growth/flip_among_vmas/1000");
  const auto last = medians_.find("growth/flip_among_vmas/1000000");
  if (first != medians_.end() && last != medians_.end()) {
    std::printf("  %-34s 10^3 %11.1f ns   10^6 %12.1f ns   grows %9.2f times\n", "flip of one VMA among others",
                first->second, last->second, last->second / first->second);
  }
}

}  // namespace faultline::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  faultline::bench::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
}
