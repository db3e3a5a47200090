#include "report/benchmark_entries.h"

#include <fmt/format.h>

#include "stats/summary.h"

namespace faultline::report {
namespace {

std::string run_name(const Comparison& comparison, const run::Report& report, const run::Row& row) {
  std::string name = comparison.program;
  for (const ParamValue& param : comparison.params) name += fmt::format("/{}:{}", param.name, param.value);
  name += "/" + report.machine;
  return row.kind == run::RowKind::operation ? fmt::format("{}/{} {}", name, row.line, row.text)
                                             : fmt::format("{}/measure {}", name, row.text);
}

Json common(const std::string& name, std::uint64_t family, std::size_t repetitions, std::string_view run_type) {
  return {{"name", name},     {"family_index", family}, {"per_family_instance_index", 0},
          {"run_name", name}, {"run_type", run_type},   {"repetitions", repetitions},
          {"threads", 1}};
}

void set_time(Json& entry, double nanoseconds) {
  entry["real_time"] = nanoseconds;
  entry["cpu_time"] = nanoseconds;
  entry["time_unit"] = "ns";
}

Json iteration(const std::string& name, std::uint64_t family, std::size_t repetitions, std::size_t index,
               double nanoseconds) {
  Json entry = common(name, family, repetitions, "iteration");
  entry["repetition_index"] = index;
  entry["iterations"] = 1;
  set_time(entry, nanoseconds);
  return entry;
}

}  // namespace

std::string BenchmarkEntries::unique(const std::string& name) {
  const std::uint64_t uses = ++uses_[name];
  return uses == 1 ? name : fmt::format("{} #{}", name, uses);
}

void BenchmarkEntries::add(const Comparison& comparison, const run::Report& report) {
  for (const run::Row& row : report.rows) {
    if (row.metric != run::Metric::nanoseconds || row.samples.empty()) continue;
    add_row(unique(run_name(comparison, report, row)), row);
  }
}

void BenchmarkEntries::add_row(const std::string& name, const run::Row& row) {
  const std::size_t n = row.samples.size();
  for (std::size_t i = 0; i < n; ++i) array_.add(dump(iteration(name, family_, n, i, row.samples[i])));

  const stats::Summary summary = *stats::summarise(row.samples);
  const auto aggregate = [&](const char* which, double value) {
    Json entry = common(name, family_, n, "aggregate");
    entry["name"] = fmt::format("{}_{}", name, which);
    entry["aggregate_name"] = which;
    entry["aggregate_unit"] = "time";
    entry["iterations"] = n;
    set_time(entry, value);
    return entry;
  };
  // As Google Benchmark does: aggregates of a single repetition would only repeat it.
  if (n > 1) {
    array_.add(dump(aggregate("mean", summary.mean)));
    array_.add(dump(aggregate("median", summary.median)));
    array_.add(dump(aggregate("stddev", summary.sd)));
    if (summary.mean > 0) {
      Json entry = aggregate("cv", summary.sd / summary.mean);
      entry["aggregate_unit"] = "percentage";
      array_.add(dump(entry));
    }
  }
  ++family_;
}

}  // namespace faultline::report
