#include "report/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "report/benchmark_entries.h"
#include "report/json_value.h"
#include "report/verdict.h"
#include "stats/interval.h"
#include "stats/summary.h"

namespace faultline::report {
namespace {

#ifdef NDEBUG
constexpr std::string_view kBuildType = "release";
#else
constexpr std::string_view kBuildType = "debug";
#endif

std::string_view metric_name(run::Metric metric) {
  switch (metric) {
    case run::Metric::none:
      return "none";
    case run::Metric::nanoseconds:
      return "nanoseconds";
    case run::Metric::instructions:
      return "instructions";
    case run::Metric::predicted:
      return "predicted_instructions";
  }
  return "";
}

std::string_view ending_name(run::Ending ending) {
  switch (ending) {
    case run::Ending::completed:
      return "completed";
    case run::Ending::signal:
      return "signal";
    case run::Ending::timeout:
      return "timeout";
    case run::Ending::interrupted:
      return "interrupted";
    case run::Ending::unsupported:
      return "unsupported";
    case run::Ending::misuse:
      return "misuse";
    case run::Ending::failed:
      return "failed";
  }
  return "";
}

std::string_view status_name(run::CheckStatus status) {
  switch (status) {
    case run::CheckStatus::held:
      return "held";
    case run::CheckStatus::failed:
      return "failed";
    case run::CheckStatus::skipped:
      return "skipped";
    case run::CheckStatus::elsewhere:
      return "not for this machine";
  }
  return "";
}

// Only the fields that the machine could see.
Json shape(const run::Shape& shape) {
  Json json = Json::object();
  const auto add = [&](const char* name, const std::optional<std::uint64_t>& value) {
    if (value) json[name] = *value;
  };
  add("vmas", shape.vmas);
  add("present", shape.present);
  add("writable", shape.writable);
  add("huge", shape.huge);
  return json;
}

// Only the counters that the machine could see: an absent one is not a zero.
Json counters(const run::Row& row) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (row.known.test(i)) json[std::string(counter_name(counter))] = row.counted[counter];
  }
  return json;
}

Json summary(const run::Row& row) {
  const auto found = stats::summarise(row.samples);
  if (!found) return nullptr;
  Json json = {{"n", found->n},     {"min", found->min}, {"q25", found->q25},   {"median", found->median},
               {"q75", found->q75}, {"max", found->max}, {"mean", found->mean}, {"sd", found->sd}};
  if (const auto interval = stats::median_interval(row.samples, kConfidence)) {
    json["median_interval"] = {{"low", interval->low}, {"high", interval->high}, {"confidence", interval->confidence}};
  }
  return json;
}

Json row_json(const run::Row& row, const std::string& refusal) {
  Json json = {{"kind", row.kind == run::RowKind::operation ? "operation" : "measure"},
               {"line", row.line},
               {"operation", row.text},
               {"measure", row.measure},
               {"calls", row.calls},
               {"failures", row.failures},
               {"metric", metric_name(row.metric)},
               {"counted_calls", row.counted_calls},
               {"counters", counters(row)},
               {"before", shape(row.before)},
               {"after", shape(row.after)}};
  if (!row.samples.empty()) {
    json["rounds"] = row.rounds;
    json["summary"] = summary(row);
    json["samples"] = row.samples;
    if (row.error) json["error"] = *row.error;
  }
  if (!refusal.empty()) json["not_compared"] = refusal;
  return json;
}

Json check_json(const run::Check& check) {
  return {{"line", check.position.line},         {"column", check.position.column},  {"text", check.text},
          {"status", status_name(check.status)}, {"evaluations", check.evaluations}, {"detail", check.detail}};
}

Json ending_json(const run::Report& report) {
  Json json = {{"how", ending_name(report.ending)}, {"line", report.ended_at.line}, {"detail", report.detail}};
  if (report.signal) {
    json["signal"] = {{"number", report.signal->number},
                      {"name", signal_name(report.signal->number)},
                      {"code", report.signal->code},
                      {"code_name", signal_code_name(report.signal->number, report.signal->code)},
                      {"address", report.signal->addr.value}};
  }
  return json;
}

Json params_json(const Comparison& comparison) {
  Json json = Json::object();
  for (const ParamValue& param : comparison.params) json[param.name] = param.value;
  return json;
}

std::string run_json(const Comparison& comparison, const std::vector<AlignedRow>& rows, std::size_t machine) {
  const run::Report& report = comparison.reports[machine];
  Json json = {{"program", comparison.program}, {"params", params_json(comparison)}, {"machine", report.machine},
               {"kernel", report.kernel},       {"ending", ending_json(report)},     {"notes", report.notes}};
  if (!comparison.notes.empty()) json["program_notes"] = comparison.notes;
  json["checks"] = Json::array();
  for (const run::Check& check : report.checks) json["checks"].push_back(check_json(check));
  JsonArray row_array;
  for (const AlignedRow& row : rows) {
    if (row.cells[machine] != nullptr) row_array.add(dump(row_json(*row.cells[machine], row.refusal)));
  }
  // The rows come last in the object, in place of its closing brace.
  std::string text = dump(json);
  text.pop_back();
  return text + ",\"rows\":" + std::move(row_array).text() + "}";
}

Json context_json(const JsonContext& context) {
  return {{"date", context.date},
          {"host_name", context.host},
          {"executable", context.command},
          {"library_build_type", kBuildType},
          {"faultline_version", context.version},
          {"faultline_cpu_time", "repeats real_time: the wall clock is the only clock that was read"}};
}

}  // namespace

std::string json(std::span<const Comparison> comparisons, const JsonContext& context) {
  BenchmarkEntries entries;
  JsonArray runs;
  for (const Comparison& comparison : comparisons) {
    const std::vector<AlignedRow> rows = align(comparison);
    for (std::size_t machine = 0; machine < comparison.reports.size(); ++machine) {
      entries.add(comparison, comparison.reports[machine]);
      runs.add(run_json(comparison, rows, machine));
    }
  }
  return "{\"context\":" + dump(context_json(context)) + ",\n\"benchmarks\":" + std::move(entries).text() +
         ",\n\"faultline\":{\"runs\":" + std::move(runs).text() + "}}\n";
}

}  // namespace faultline::report
