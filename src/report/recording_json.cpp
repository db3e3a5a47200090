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

}  // namespace

std::string recording_json(const RecordingReport& report) {
  const StudyFigures& figures = report.figures;
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
               {"counted", counters_json(figures.counted)}};
  const auto results = [&](run::CheckStatus status) {
    return std::ranges::count(report.run.checks, status, &run::Check::status);
  };
  json["results"] = {{"held", results(run::CheckStatus::held)}, {"differ", results(run::CheckStatus::failed)}};
  json["calls"] = Json::array();
  for (const auto& [site, f] : figures.calls) {
    json["calls"].push_back({{"call", site.call},
                             {"site", site.site},
                             {"calls", f.calls},
                             {"failures", f.failures},
                             {"bytes", f.bytes},
                             {"pages_present", f.present},
                             {"later_faults", f.later_faults},
                             {"counted", counters_json(f.counted)}});
  }
  json["faults"] = Json::array();
  for (const auto& [site, counted] : figures.faults) {
    json["faults"].push_back({{"access", site.access}, {"site", site.site}, {"counted", counters_json(counted)}});
  }
  json["vmas"] = {{"limit", figures.limit}, {"points", Json::array()}};
  for (const VmaPoint& point : figures.vmas) json["vmas"]["points"].push_back({point.call, point.vmas});
  const auto calls = calls_until_limit(figures);
  json["vmas"]["calls_until_limit"] = calls ? Json(*calls) : Json(nullptr);
  json["protection_changes"] = Json::array();
  for (const auto& [change, times] : figures.protections) {
    json["protection_changes"].push_back({{"pages_from", change.pages},
                                          {"present_from", change.present},
                                          {"before", protection_json(change.before)},
                                          {"after", protection_json(change.after)},
                                          {"site", change.site},
                                          {"times", times}});
  }
  json["processes"] = processes_json(report.recording);
  json["notes"] = process.notes;
  for (const std::string& note : report.recording.notes) json["notes"].push_back(note);
  return dump(json) + "\n";
}

}  // namespace faultline::report
