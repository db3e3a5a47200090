#include "report/stored_runs.h"

#include <absl/container/flat_hash_map.h>

#include <cmath>
#include <optional>
#include <utility>

#include "json/node.h"

namespace faultline::report {
namespace {

using json::Node;

run::Metric metric_of(const Node& node) {
  for (const auto& [name, metric] : {std::pair{"none", run::Metric::none},
                                     {"nanoseconds", run::Metric::nanoseconds},
                                     {"instructions", run::Metric::instructions},
                                     {"predicted_instructions", run::Metric::predicted}}) {
    if (node.text() == name) return metric;
  }
  throw node.expected("none, nanoseconds, instructions or predicted_instructions");
}

run::RowKind kind_of(const Node& node) {
  if (node.text() == "operation") return run::RowKind::operation;
  if (node.text() == "measure") return run::RowKind::measure;
  throw node.expected("operation or measure");
}

std::uint32_t small_count(const Node& node) {
  const std::uint64_t value = node.count();
  if (value > UINT32_MAX) throw node.expected("a number below 2^32");
  return static_cast<std::uint32_t>(value);
}

run::Shape shape_of(const Node& node) {
  run::Shape shape;
  for (const auto& [name, field] : {std::pair{"vmas", &run::Shape::vmas},
                                    {"present", &run::Shape::present},
                                    {"writable", &run::Shape::writable},
                                    {"huge", &run::Shape::huge}}) {
    if (const auto found = node.find(name)) shape.*field = found->count();
  }
  return shape;
}

run::Row row_of(const Node& node) {
  run::Row row;
  row.kind = kind_of(node.at("kind"));
  row.line = small_count(node.at("line"));
  row.text = node.at("operation").text();
  row.measure = node.at("measure").text();
  row.calls = node.at("calls").count();
  row.failures = node.at("failures").count();
  row.metric = metric_of(node.at("metric"));
  row.counted_calls = node.at("counted_calls").count();
  node.at("counters").each_member([&](const std::string& name, const Node& value) {
    // A counter of another version is not held against anything.
    if (const auto counter = counter_named(name)) {
      row.counted[*counter] = value.count();
      row.known.set(std::to_underlying(*counter));
    }
  });
  row.before = shape_of(node.at("before"));
  row.after = shape_of(node.at("after"));
  if (const auto samples = node.find("samples")) {
    samples->each([&](const Node& sample) { row.samples.push_back(sample.number()); });
  }
  if (const auto error = node.find("error")) row.error = error->number();
  if (const auto rounds = node.find("rounds")) row.rounds = small_count(*rounds);
  return row;
}

StoredRun run_of(const Node& node) {
  StoredRun run;
  run.program = node.at("program").text();
  node.at("params").each_member([&](const std::string& name, const Node& value) {
    run.params.push_back({name, value.count(), std::to_string(value.count())});
  });
  run.report.machine = node.at("machine").text();
  run.report.kernel = node.at("kernel").text();
  node.at("rows").each([&](const Node& row) { run.report.rows.push_back(row_of(row)); });
  return run;
}

double nanoseconds_in(const std::optional<Node>& unit) {
  if (!unit || unit->text() == "ns") return 1;
  if (unit->text() == "us") return 1e3;
  if (unit->text() == "ms") return 1e6;
  if (unit->text() == "s") return 1e9;
  throw unit->expected("ns, us, ms or s");
}

bool is_iteration(const Node& entry) {
  const auto type = entry.find("run_type");
  return (!type || type->text() == "iteration") && !entry.find("error_occurred");
}

StoredRun benchmark_run(const Node& entries) {
  StoredRun run;
  run.report.machine = "benchmark";
  absl::flat_hash_map<std::string, std::size_t> places;
  entries.each([&](const Node& entry) {
    if (!is_iteration(entry)) return;
    const auto run_name = entry.find("run_name");
    const std::string& name = run_name ? run_name->text() : entry.at("name").text();
    const auto [place, is_new] = places.try_emplace(name, run.report.rows.size());
    if (is_new) {
      run.report.rows.emplace_back();
      run.report.rows.back().text = name;
      run.report.rows.back().metric = run::Metric::nanoseconds;
    }
    const Node time = entry.at("real_time");
    const double sample = time.number() * nanoseconds_in(entry.find("time_unit"));
    if (!std::isfinite(sample)) throw time.expected("a time that is a finite number of nanoseconds");
    run.report.rows[place->second].samples.push_back(sample);
  });
  return run;
}

}  // namespace

std::expected<std::vector<StoredRun>, std::string> read_runs(std::string_view text) {
  return json::read(text, [](const Node& root) {
    std::vector<StoredRun> runs;
    if (const auto own = root.find("faultline")) {
      own->at("runs").each([&](const Node& run) { runs.push_back(run_of(run)); });
    } else if (const auto entries = root.find("benchmarks")) {
      runs.push_back(benchmark_run(*entries));
    } else {
      throw json::Wrong("neither the JSON of faultline run --json nor of Google Benchmark");
    }
    return runs;
  });
}

}  // namespace faultline::report
