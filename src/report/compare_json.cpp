#include "report/compare_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/counted_difference.h"
#include "report/json_value.h"
#include "stats/means.h"
#include "stats/summary.h"

namespace faultline::report {
namespace {

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::different:
      return "different";
    case Outcome::not_proven:
      return "not_proven";
    case Outcome::same:
      return "same";
  }
  return "";
}

const char* basis_name(Basis basis) {
  switch (basis) {
    case Basis::counted:
      return "counted";
    case Basis::tested:
      return "tested";
    case Basis::one_process:
      return "one_process";
    case Basis::too_few:
      return "too_few";
  }
  return "";
}

Json interval_json(const stats::Interval& interval) {
  return {{"low", interval.low}, {"high", interval.high}, {"confidence", interval.confidence}};
}

Json side_json(const run::Row& row) {
  Json json = {{"line", row.line}, {"rounds", row.rounds}};
  if (const auto found = stats::summarise(row.samples)) {
    json["n"] = found->n;
    json["min"] = found->min;
    json["median"] = found->median;
    json["max"] = found->max;
    json["mean"] = found->mean;
    json["sd"] = found->sd;
  }
  if (const auto interval = stats::median_interval(row.samples, kConfidence)) {
    json["median_interval"] = interval_json(*interval);
  }
  return json;
}

void add_means(Json& json, const run::Row& a, const run::Row& b) {
  const auto first = stats::summarise(a.samples);
  const auto second = stats::summarise(b.samples);
  if (!first || !second) return;
  const auto welch = stats::welch(*first, *second, kConfidence);
  if (!welch) return;
  json["difference"] = {{"value", welch->difference}, {"interval", interval_json(welch->interval)}};
  if (first->mean > 0) {
    const double scale = 100 / first->mean;
    json["difference"]["percent"] = welch->difference * scale;
    json["difference"]["percent_low"] = welch->interval.low * scale;
    json["difference"]["percent_high"] = welch->interval.high * scale;
  }
  json["welch"] = {{"degrees_of_freedom", welch->degrees}, {"p", welch->p}};
  // JSON has no infinity.
  if (std::isfinite(welch->t)) json["welch"]["t"] = welch->t;
  if (const auto pooled = stats::pooled_difference(*first, *second, kConfidence)) {
    json["ministat"] = {{"difference", pooled->difference}, {"half_width", pooled->half_width},
                        {"percent", pooled->percent},       {"percent_half_width", pooled->percent_half_width},
                        {"pooled_sd", pooled->pooled_sd},   {"proven", pooled->proven()}};
  }
}

Json row_json(const ComparedRow& row) {
  Json json = {{"kind", row.first.kind == run::RowKind::operation ? "operation" : "measure"},
               {"line", row.first.line},
               {"operation", row.first.text},
               {"first", side_json(row.first)},
               {"second", side_json(row.second)}};
  if (!row.comparable()) {
    json["not_compared"] = row.refusal;
    return json;
  }
  json["verdict"] = outcome_name(row.verdict.outcome);
  json["basis"] = basis_name(row.verdict.basis);
  if (const auto& test = row.verdict.test) {
    json["mann_whitney"] = {
        {"u", test->u}, {"p", test->p}, {"method", test->method == stats::RankMethod::exact ? "exact" : "normal"}};
    if (row.verdict.corrected) json["mann_whitney"]["p_corrected"] = *row.verdict.corrected;
  }
  add_means(json, row.first, row.second);
  json["counted_differences"] = Json::array();
  for (const CountedDifference& found : counted_differences(row.first, row.second)) {
    json["counted_differences"].push_back({{"what", found.what}, {"first", found.first}, {"second", found.second}});
  }
  return json;
}

Json run_side(const StoredRun& run) {
  return {{"program", run.program}, {"machine", run.report.machine}, {"kernel", run.report.kernel}};
}

std::string run_json(const ComparedRun& run) {
  Json json = {{"first", run_side(run.first)}, {"second", run_side(run.second)}, {"params", Json::object()}};
  for (const ParamValue& param : run.first.params) json["params"][param.name] = param.value;
  json["rows_only_in_first"] = run.only_first;
  json["rows_only_in_second"] = run.only_second;
  JsonArray rows;
  for (const ComparedRow& row : run.rows) rows.add(dump(row_json(row)));
  std::string text = dump(json);
  text.pop_back();
  return text + ",\"rows\":" + std::move(rows).text() + "}";
}

}  // namespace

std::string compare_json(const RunComparison& comparison, const SideNames& names) {
  const Json json = {{"sides", {names.first, names.second}},
                     {"confidence", kConfidence},
                     {"correction", "Benjamini-Hochberg"},
                     {"tested", comparison.tested},
                     {"different", comparison.count(Outcome::different)},
                     {"not_proven", comparison.count(Outcome::not_proven)},
                     {"same", comparison.count(Outcome::same)},
                     {"unmatched", comparison.unmatched}};
  JsonArray runs;
  for (const ComparedRun& run : comparison.runs) runs.add(run_json(run));
  std::string text = dump(json);
  text.pop_back();
  return text + ",\n\"runs\":" + std::move(runs).text() + "}\n";
}

}  // namespace faultline::report
