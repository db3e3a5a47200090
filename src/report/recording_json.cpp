#include <algorithm>

#include "report/json_value.h"
#include "report/recording_report.h"

namespace faultline::report {
namespace {

Json counters_json(const Counters& counted) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (counted[counter] > 0) json[std::string(counter_name(counter))] = counted[counter];
  }
  return json;
}

Json protection_json(std::optional<Prot> prot) { return prot ? Json(std::to_underlying(*prot)) : Json(nullptr); }

Json status_json(const record::RecordedProcess& process) {
  return process.ending == record::ProcessEnding::exited ? Json(process.status) : Json(nullptr);
}

Json processes_json(const record::Import& recording) {
  Json json = Json::array();
  for (const record::RecordedProcess& process : recording.processes) {
    json.push_back({{"id", process.id},
                    {"path", process.path},
                    {"parent", process.parent},
                    {"memory_calls", process.calls},
                    {"touches", process.accesses},
                    {"forks", process.forks},
                    {"status", status_json(process)}});
  }
  return json;
}

Json calls_json(const StudyFigures& figures) {
  Json json = Json::array();
  for (const auto& [site, f] : figures.calls) {
    json.push_back({{"call", site.call},
                    {"site", site.site},
                    {"calls", f.calls},
                    {"failures", f.failures},
                    {"bytes", f.bytes},
                    {"pages_present", f.present},
                    {"later_faults", f.later_faults},
                    {"counted", counters_json(f.counted)}});
  }
  return json;
}

Json faults_json(const StudyFigures& figures) {
  Json json = Json::array();
  for (const auto& [site, counted] : figures.faults) {
    json.push_back({{"access", site.access}, {"site", site.site}, {"counted", counters_json(counted)}});
  }
  return json;
}

Json vmas_json(const StudyFigures& figures) {
  Json json = {{"limit", figures.limit}, {"points", Json::array()}};
  for (const VmaPoint& point : figures.vmas) json["points"].push_back({point.call, point.vmas});
  const auto calls = calls_until_limit(figures);
  json["calls_until_limit"] = calls ? Json(*calls) : Json(nullptr);
  return json;
}

Json protections_json(const StudyFigures& figures) {
  Json json = Json::array();
  for (const auto& [change, f] : figures.protections) {
    json.push_back({{"pages_from", change.pages},
                    {"present_from", change.present},
                    {"before", protection_json(change.before)},
                    {"after", protection_json(change.after)},
                    {"site", change.site},
                    {"times", f.times},
                    {"pages", f.pages},
                    {"pages_present", f.present},
                    {"counted", counters_json(f.counted)}});
  }
  return json;
}

std::string_view perf_name(record::PerfCount perf) {
  switch (perf) {
    case record::PerfCount::none:
      return "none";
    case record::PerfCount::all:
      return "all";
    case record::PerfCount::of_user_mode:
      return "user mode";
  }
  return "";
}

Json native_json(const RecordingReport& report) {
  if (!report.recording.native || !report.all_faults) return nullptr;
  const record::Native& native = *report.recording.native;
  return {{"minor_faults", native.minor_faults},
          {"major_faults", native.major_faults},
          {"perf", perf_name(native.perf)},
          {"perf_page_faults", native.perf == record::PerfCount::none ? Json(nullptr) : Json(native.page_faults)},
          {"model_faults", *report.all_faults}};
}

Json head_json(const RecordingReport& report) {
  const record::RecordedProcess& process = report.process;
  Json json = {{"process", process.id},
               {"path", process.path},
               {"machine", report.run.machine},
               {"recording_bytes", report.bytes},
               {"memory_calls", process.calls},
               {"touches", process.accesses},
               {"forks", process.forks},
               {"status", status_json(process)},
               {"completed", report.run.ending == run::Ending::completed},
               {"counted", counters_json(report.figures.counted)}};
  const auto results = [&](run::CheckStatus status) {
    return std::ranges::count(report.run.checks, status, &run::Check::status);
  };
  json["native"] = native_json(report);
  json["results"] = {{"held", results(run::CheckStatus::held)}, {"differ", results(run::CheckStatus::failed)}};
  return json;
}

void add(Json& json, const Asked& asked, const StudyFigures& figures) {
  const auto name = std::ranges::find(questions(), asked.question, &QuestionName::question)->name;
  switch (asked.question) {
    case Question::calls:
      json["calls"] = calls_json(figures);
      break;
    case Question::faults:
      json["faults"] = faults_json(figures);
      break;
    case Question::vmas:
      json["vmas"] = vmas_json(figures);
      break;
    case Question::protections:
      json["protection_changes"] = protections_json(figures);
      break;
    default:
      if (asked.answer.overview) {
        json[std::string(name)] = table_json(*asked.answer.overview);
        json[std::string(name) + "_refusals"] = table_json(asked.answer.data);
      } else {
        json[std::string(name)] = table_json(asked.answer.data);
      }
  }
}

}  // namespace

std::string recording_json(const RecordingReport& report, const std::vector<Asked>& asked) {
  const StudyFigures& figures = report.figures;
  Json json = head_json(report);
  for (const Asked& one : asked) add(json, one, figures);
  if (asked.empty()) {
    json["calls"] = calls_json(figures);
    json["faults"] = faults_json(figures);
    json["vmas"] = vmas_json(figures);
    json["protection_changes"] = protections_json(figures);
    json["processes"] = processes_json(report.recording);
    json["notes"] = report.process.notes;
    for (const std::string& note : report.recording.notes) json["notes"].push_back(note);
  }
  return dump(json) + "\n";
}

std::string recording_csv(const RecordingReport& report, const Asked& asked, CsvHeading heading) {
  Table table = asked.answer.data;
  table.columns.insert(table.columns.begin(), {{"program", ""}, {"process", ""}, {"machine", ""}});
  for (auto& row : table.rows) {
    row.insert(row.begin(), {report.process.path, report.process.id, report.run.machine});
  }
  const std::string text = table_csv(table);
  return heading == CsvHeading::yes ? text : text.substr(text.find('\n') + 1);
}

}  // namespace faultline::report
