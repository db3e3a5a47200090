// The JSON: what Google Benchmark's compare.py needs of it, and our own section.
#include "report/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "reports.h"

namespace faultline::report {
namespace {

using nlohmann::json;

const JsonContext kContext{"2026-11-30T12:00:00+01:00", "host", "faultline run x.fl", "0.1.0"};

json parsed(const std::vector<Comparison>& comparisons) { return json::parse(report::json(comparisons, kContext)); }

Comparison model_and_live() {
  run::Row block = as_block(measured(8, "", {500, 510, 520}), "cycle");
  Comparison comparison = comparison_of(
      {report_of("model:6.12", "model of Linux 6.12 (x86-64)",
                 {shaped(counted(9, "store(a, size)", 3, {{Counter::exceptions, 32}}),
                         {.vmas = 1, .present = 32, .writable = 0, .huge = 0})}),
       report_of("live", "Linux 6.18.44 (x86-64)", {measured(9, "store(a, size)", {100, 110, 130}, 32), block})});
  comparison.params = {{"pages", 32, "32"}};
  return comparison;
}

TEST(Json, HasTheTopLevelKeysOfGoogleBenchmark) {
  const json document = parsed({model_and_live()});
  EXPECT_EQ(document["context"]["date"], "2026-11-30T12:00:00+01:00");
  EXPECT_EQ(document["context"]["host_name"], "host");
  EXPECT_TRUE(document["context"]["library_build_type"].is_string());
  EXPECT_TRUE(document["benchmarks"].is_array());
}

TEST(Json, GivesEveryEntryTheKeysThatCompareReads) {
  // tools/gbench/report.py and util.py: these are indexed without a default.
  const json document = parsed({model_and_live()});
  // Three samples and four aggregates, for an operation and for a block.
  ASSERT_EQ(document["benchmarks"].size(), 14u);
  for (const json& entry : document["benchmarks"]) {
    EXPECT_TRUE(entry.at("name").is_string());
    EXPECT_TRUE(entry.at("run_name").is_string());
    EXPECT_TRUE(entry.at("real_time").is_number());
    EXPECT_TRUE(entry.at("cpu_time").is_number());
    EXPECT_EQ(entry.at("time_unit"), "ns");
    EXPECT_TRUE(entry.at("iterations").is_number_unsigned());
    EXPECT_EQ(entry.at("repetitions"), 3);
    EXPECT_TRUE(entry.at("threads").is_number_unsigned());
    EXPECT_TRUE(entry.at("family_index").is_number_unsigned());
    EXPECT_TRUE(entry.at("per_family_instance_index").is_number_unsigned());
    if (entry.at("run_type") == "aggregate") {
      EXPECT_TRUE(entry.at("aggregate_name").is_string());
      EXPECT_EQ(entry.at("name"), std::string(entry.at("run_name")) + "_" + std::string(entry.at("aggregate_name")));
    } else {
      EXPECT_EQ(entry.at("run_type"), "iteration");
      EXPECT_TRUE(entry.at("repetition_index").is_number_unsigned());
      EXPECT_EQ(entry.at("name"), entry.at("run_name"));
    }
  }
}

TEST(Json, HasAnIterationPerSampleAndTheirAggregates) {
  std::vector<double> times;
  std::map<std::string, double> aggregates;
  const std::string name = "programs/mprotect-cycle.fl/pages:32/live/9 store(a, size)";
  const json document = parsed({model_and_live()});
  for (const json& entry : document["benchmarks"]) {
    if (entry["run_name"] != name) continue;
    if (entry["run_type"] == "iteration") {
      EXPECT_EQ(entry["repetition_index"], times.size());
      times.push_back(entry["real_time"]);
    } else {
      aggregates[entry["aggregate_name"]] = entry["real_time"];
    }
  }
  EXPECT_EQ(times, (std::vector<double>{100, 110, 130}));
  ASSERT_EQ(aggregates.size(), 4u);
  EXPECT_NEAR(aggregates["mean"], 340.0 / 3, 1e-9);
  EXPECT_EQ(aggregates["median"], 110);
  // Distances from the mean: -40/3, -10/3, 50/3.
  EXPECT_NEAR(aggregates["stddev"], std::sqrt((1600.0 + 100 + 2500) / 9 / 2), 1e-9);
  EXPECT_NEAR(aggregates["cv"], aggregates["stddev"] / aggregates["mean"], 1e-12);
}

TEST(Json, InventsNoTimeForWhatWasOnlyCounted) {
  const json document = parsed({comparison_of({report_of("model:6.12", {counted(9, "store(a, size)", 3)}),
                                               report_of("vm:6.1", {exact(9, "store(a, size)", 135)})})});
  EXPECT_TRUE(document["benchmarks"].empty());
  EXPECT_EQ(document["faultline"]["runs"].size(), 2u);
  const json& counted_row = document["faultline"]["runs"][0]["rows"][0];
  EXPECT_EQ(counted_row["metric"], "none");
  EXPECT_FALSE(counted_row.contains("samples"));
  EXPECT_EQ(document["faultline"]["runs"][1]["rows"][0]["metric"], "instructions");
  EXPECT_EQ(document["faultline"]["runs"][1]["rows"][0]["summary"]["median"], 135);
}

TEST(Json, KeepsEverythingOfARunInItsOwnSection) {
  const json document = parsed({model_and_live()});
  const json& model = document["faultline"]["runs"][0];
  EXPECT_EQ(model["program"], "programs/mprotect-cycle.fl");
  EXPECT_EQ(model["params"]["pages"], 32);
  EXPECT_EQ(model["machine"], "model:6.12");
  EXPECT_EQ(model["kernel"], "model of Linux 6.12 (x86-64)");
  EXPECT_EQ(model["ending"]["how"], "completed");
  const json& row = model["rows"][0];
  EXPECT_EQ(row["kind"], "operation");
  EXPECT_EQ(row["line"], 9);
  EXPECT_EQ(row["operation"], "store(a, size)");
  EXPECT_EQ(row["calls"], 3);
  EXPECT_EQ(row["counted_calls"], 3);
  EXPECT_EQ(row["counters"]["exceptions"], 96);
  EXPECT_EQ(row["before"], (json{{"vmas", 1}, {"present", 32}, {"writable", 0}, {"huge", 0}}));
  EXPECT_EQ(row["after"], json::object());
  const json& live = document["faultline"]["runs"][1];
  EXPECT_EQ(live["rows"][1]["kind"], "measure");
  EXPECT_EQ(live["rows"][0]["samples"], (json{100.0, 110.0, 130.0}));
  EXPECT_EQ(live["rows"][0]["summary"]["median_interval"],
            (json{{"low", 100.0}, {"high", 130.0}, {"confidence", 0.75}}));
}

TEST(Json, LeavesOutCountersThatTheMachineCannotSee) {
  const json live = parsed({model_and_live()})["faultline"]["runs"][1];
  EXPECT_EQ(live["rows"][0]["counters"], (json{{"exceptions", 96}, {"minor_faults", 96}}));
}

TEST(Json, SaysWhichRowsMayNotBeCompared) {
  const json document = parsed({comparison_of({report_of("a", {shaped(counted(9, "x", 1), {.vmas = 12})}),
                                               report_of("b", {shaped(counted(9, "x", 1), {.vmas = 1000})})})});
  EXPECT_EQ(document["faultline"]["runs"][1]["rows"][0]["not_compared"], "12 VMAs on a against 1,000 on b");
}

TEST(Json, NamesChecksAndTheSignalThatEndedTheRun) {
  run::Report report = report_of("live", {});
  report.ending = run::Ending::signal;
  report.signal = Signal{kSigSegv, kSegvAccErr, Addr{0x7000}};
  report.ended_at = {12, 3};
  report.checks = {{{14, 5}, "expect vmas() == 1", run::CheckStatus::failed, 2, "found 3"}};
  const json document = parsed({comparison_of({report})});
  const json& found = document["faultline"]["runs"][0];
  EXPECT_EQ(found["ending"]["how"], "signal");
  EXPECT_EQ(found["ending"]["line"], 12);
  EXPECT_EQ(found["ending"]["signal"]["name"], "SIGSEGV");
  EXPECT_EQ(found["ending"]["signal"]["code_name"], "SEGV_ACCERR");
  EXPECT_EQ(found["ending"]["signal"]["address"], 0x7000);
  EXPECT_EQ(found["checks"][0]["status"], "failed");
  EXPECT_EQ(found["checks"][0]["line"], 14);
  EXPECT_EQ(found["checks"][0]["detail"], "found 3");
}

TEST(Json, GivesEveryBenchmarkItsOwnName) {
  // Two statements on one line of the program have the same title.
  const Comparison twice =
      comparison_of({report_of("live", {measured(9, "x", {1, 2, 3}), measured(9, "x", {4, 5, 6})})});
  std::set<std::string> names;
  const json document = parsed({twice});
  for (const json& entry : document["benchmarks"]) names.insert(entry["run_name"]);
  EXPECT_EQ(names.size(), 2u);
}

TEST(Json, StaysValidForTextThatIsNotUtf8) {
  const json document = parsed({comparison_of({report_of("live", {counted(9, "memfd_create(\"\xff\")", 1)})})});
  EXPECT_EQ(document["faultline"]["runs"][0]["rows"][0]["operation"], "memfd_create(\"\uFFFD\")");
}

TEST(Json, OfNothingIsStillValid) {
  const json document = parsed({});
  EXPECT_TRUE(document["benchmarks"].empty());
  EXPECT_TRUE(document["faultline"]["runs"].empty());
}

}  // namespace
}  // namespace faultline::report
