// Two stored runs held against each other.
#include "report/compare.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "report/compare_json.h"
#include "report/compare_text.h"
#include "report/json.h"
#include "reports.h"

namespace faultline::report {
namespace {

StoredRun stored(std::string program, std::string machine, std::vector<run::Row> rows) {
  return {std::move(program), {}, report_of(std::move(machine), std::move(rows))};
}

RunComparison compared(std::vector<run::Row> first, std::vector<run::Row> second, std::string machine = "live") {
  return compare_runs({stored("p.fl", machine, std::move(first))}, {stored("p.fl", machine, std::move(second))},
                      Independent::processes);
}

std::string refusal(run::Row first, run::Row second) {
  const RunComparison comparison = compared({std::move(first)}, {std::move(second)});
  EXPECT_EQ(comparison.comparable(), 0u);
  return comparison.runs.front().rows.front().refusal;
}

std::vector<double> noise(std::uint64_t seed, double centre, std::size_t n = 50) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(centre, centre / 50);
  std::vector<double> samples(n);
  for (double& x : samples) x = normal(random);
  return samples;
}

run::Row processes(std::uint32_t line, std::string text, std::vector<double> samples) {
  return in_rounds(measured(line, std::move(text), std::move(samples)));
}

TEST(Compare, FindsADifferenceAndProvesNoneWhereThereIsNone) {
  const RunComparison comparison = compared({processes(3, "x", noise(1, 100)), processes(4, "y", noise(2, 100))},
                                            {processes(3, "x", noise(3, 100)), processes(4, "y", noise(4, 105))});
  const auto& rows = comparison.runs.front().rows;
  EXPECT_EQ(rows[0].verdict.outcome, Outcome::not_proven);
  EXPECT_EQ(rows[1].verdict.outcome, Outcome::different);
  EXPECT_EQ(comparison.tested, 2u);
}

TEST(Compare, RefusesUnlikeShapeWorkMetricAndTooFewSamples) {
  const run::Row plain = processes(3, "x", noise(1, 100));
  EXPECT_EQ(refusal(shaped(plain, {.vmas = 12}), shaped(plain, {.vmas = 1000})), "12 VMAs on A against 1,000 on B");
  run::Row fewer = plain;
  fewer.calls = 10;
  EXPECT_EQ(refusal(plain, fewer), "50 calls on A against 10 on B");
  run::Row failing = plain;
  failing.failures = 50;
  EXPECT_EQ(refusal(plain, failing), "0 of 50 calls failed on A against 50 on B");
  run::Row instructions = exact(3, "x", 100);
  instructions.calls = 50;
  EXPECT_EQ(refusal(plain, instructions), "nanoseconds in A against instructions in B");
  EXPECT_EQ(refusal(measured(3, "x", {1, 2}), measured(3, "x", {1, 2})),
            "2 samples in A: fewer than three say nothing");
}

TEST(Compare, ProvesNothingFromOneProcessUnlessAskedTo) {
  const StoredRun before = stored("p.fl", "live", {measured(3, "x", noise(1, 100))});
  const StoredRun after = stored("p.fl", "live", {measured(3, "x", noise(2, 200))});
  const RunComparison honest = compare_runs({before}, {after}, Independent::processes);
  EXPECT_EQ(honest.runs.front().rows.front().verdict.basis, Basis::one_process);
  EXPECT_EQ(honest.count(Outcome::different), 0u);
  EXPECT_EQ(compare_runs({before}, {after}, Independent::samples).count(Outcome::different), 1u);
}

TEST(Compare, ComparesCountsExactly) {
  const auto model = [](std::uint64_t faults) { return counted(3, "x", 1000, {{Counter::exceptions, faults}}); };
  EXPECT_EQ(compared({model(32)}, {model(32)}, "model:6.12").count(Outcome::same), 1u);
  EXPECT_EQ(compared({model(32)}, {model(33)}, "model:6.12").count(Outcome::different), 1u);
  // One fault more in a thousand calls is a difference too.
  run::Row one_more = model(32);
  one_more.counted[Counter::exceptions] += 1;
  EXPECT_EQ(compared({model(32)}, {one_more}, "model:6.12").count(Outcome::different), 1u);
  EXPECT_EQ(compared({exact(3, "x", 4731)}, {exact(3, "x", 4732)}, "vm:6.1").count(Outcome::different), 1u);
}

TEST(Compare, MatchesRowsThatMovedAndCountsThoseWithoutPartner) {
  const RunComparison comparison = compared({counted(3, "x", 1), counted(4, "x", 2), counted(5, "only here", 1)},
                                            {counted(13, "x", 1), counted(14, "x", 2), counted(2, "new", 1)});
  const ComparedRun& run = comparison.runs.front();
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_EQ(run.rows[1].second.line, 14u);
  EXPECT_EQ(run.only_first, 1u);
  EXPECT_EQ(run.only_second, 1u);
  EXPECT_EQ(comparison.count(Outcome::same), 2u);
}

TEST(Compare, MatchesMachinesByNameThenByKindAndNeverAcross) {
  const auto on = [](std::string machine) { return stored("p.fl", std::move(machine), {counted(3, "x", 1)}); };
  const RunComparison comparison =
      compare_runs({on("model:6.1"), on("live")}, {on("live"), on("model:6.12")}, Independent::processes);
  ASSERT_EQ(comparison.runs.size(), 2u);
  EXPECT_EQ(comparison.runs[0].second.report.machine, "model:6.12");
  EXPECT_EQ(comparison.runs[1].second.report.machine, "live");
  const RunComparison across = compare_runs({on("model:6.1")}, {on("live")}, Independent::processes);
  EXPECT_EQ(across.runs.size(), 0u);
  EXPECT_EQ(across.unmatched, (std::vector<std::string>{"only in A: p.fl on model:6.1", "only in B: p.fl on live"}));
}

TEST(Compare, MatchesProgramsByPathThenByNameThenAsTheOnlyOnes) {
  const auto of = [](std::string program) { return stored(std::move(program), "live", {counted(3, "x", 1)}); };
  EXPECT_EQ(compare_runs({of("a/p.fl")}, {of("b/p.fl")}, Independent::processes).runs.size(), 1u);
  EXPECT_EQ(compare_runs({of("p.fl")}, {of("q.fl")}, Independent::processes).runs.size(), 1u);
  EXPECT_EQ(compare_runs({of("p.fl"), of("r.fl")}, {of("q.fl")}, Independent::processes).runs.size(), 0u);
}

TEST(Compare, NeverMatchesUnlikeParameters) {
  StoredRun small = stored("p.fl", "live", {counted(3, "x", 1)});
  StoredRun large = small;
  small.params = {{"pages", 1, "1"}};
  large.params = {{"pages", 64, "64"}};
  EXPECT_EQ(compare_runs({small}, {large}, Independent::processes).runs.size(), 0u);
}

TEST(Compare, FindsTwoSidesInOneFile) {
  const auto of = [](std::string program) { return stored(std::move(program), "live", {counted(3, "x", 1)}); };
  const auto programs = two_sides({of("a.fl"), of("b.fl")});
  ASSERT_TRUE(programs);
  EXPECT_EQ(programs->second.front().program, "b.fl");
  const auto machines = two_sides({of("a.fl"), of("a.fl")});
  ASSERT_TRUE(machines);
  EXPECT_EQ(machines->first.size(), 1u);
  EXPECT_FALSE(two_sides({of("a.fl")}));
  EXPECT_FALSE(two_sides({of("a.fl"), of("a.fl"), of("a.fl")}));
  EXPECT_FALSE(two_sides({of("a.fl"), of("b.fl"), of("c.fl")}));
}

TEST(Compare, CorrectsAllRowsOfAllRunsTogether) {
  std::vector<run::Row> first;
  std::vector<run::Row> second;
  for (std::uint32_t line = 1; line <= 200; ++line) {
    first.push_back(processes(line, std::to_string(line), noise(line, 100)));
    second.push_back(processes(line, std::to_string(line), noise(1000 + line, 100)));
  }
  const RunComparison comparison = compared(first, second);
  EXPECT_EQ(comparison.tested, 200u);
  std::size_t uncorrected = 0;
  for (const ComparedRow& row : comparison.runs.front().rows) uncorrected += row.verdict.test->p <= 0.05 ? 1 : 0;
  // About ten of two hundred by chance alone; none of them is left.
  EXPECT_GT(uncorrected, 2u);
  EXPECT_EQ(comparison.count(Outcome::different), 0u);
}

TEST(Compare, ReadsBackWhatRunWrites) {
  Comparison comparison = comparison_of({report_of(
      "live", "Linux 6.18.44",
      {shaped(in_block(processes(9, "store(a, size)", {100, 110, 130}), "cycle"), {.vmas = 1, .present = 32})})});
  comparison.params = {{"pages", 32, "32"}};
  const auto runs = read_runs(json(std::vector{comparison}, {"", "", "", ""}));
  ASSERT_TRUE(runs) << runs.error();
  const StoredRun& run = runs->front();
  EXPECT_EQ(run.program, "programs/mprotect-cycle.fl");
  EXPECT_EQ(run.params.front().value, 32u);
  EXPECT_EQ(run.report.kernel, "Linux 6.18.44");
  const run::Row& row = run.report.rows.front();
  EXPECT_EQ(row.samples, (std::vector<double>{100, 110, 130}));
  EXPECT_EQ(row.rounds, 3u);
  EXPECT_EQ(row.before.present, 32u);
  EXPECT_EQ(row.measure, "cycle");
  EXPECT_EQ(row.known, only({Counter::exceptions, Counter::minor_faults}));
}

TEST(Compare, ReadsTheRepetitionsOfGoogleBenchmark) {
  const auto runs = read_runs(R"({"benchmarks": [
      {"name": "BM/8", "run_name": "BM/8", "run_type": "iteration", "real_time": 2, "time_unit": "us"},
      {"name": "BM/8", "run_name": "BM/8", "run_type": "iteration", "real_time": 3, "time_unit": "us"},
      {"name": "BM/8_mean", "run_name": "BM/8", "run_type": "aggregate", "real_time": 2.5, "time_unit": "us"}]})");
  ASSERT_TRUE(runs) << runs.error();
  ASSERT_EQ(runs->front().report.rows.size(), 1u);
  EXPECT_EQ(runs->front().report.rows.front().samples, (std::vector<double>{2000, 3000}));
}

TEST(Compare, SaysWhereADocumentIsWrong) {
  const auto error = [](std::string_view text) {
    const auto runs = read_runs(text);
    return runs ? "none" : runs.error();
  };
  EXPECT_EQ(error("{"), "not JSON: at byte 2");
  EXPECT_EQ(error("{}"), "neither the JSON of faultline run --json nor of Google Benchmark");
  EXPECT_EQ(error("[]"), "the document: expected an object");
  EXPECT_EQ(error(R"({"faultline": {"runs": [{"program": 7}]}})"), "faultline.runs[0].program: expected a string");
  EXPECT_EQ(error(R"({"faultline": {"runs": [{"program": ""}]}})"), "faultline.runs[0] has no \"params\"");
  EXPECT_EQ(error(R"({"benchmarks": [{"name": "x", "real_time": "fast"}]})"),
            "benchmarks[0].real_time: expected a number");
  EXPECT_NE(error(R"({"benchmarks": [{"name": "x", "real_time": 1e999}]})"), "none");
  EXPECT_EQ(error(R"({"benchmarks": [{"name": "x", "real_time": 1e308, "time_unit": "s"}]})"),
            "benchmarks[0].real_time: expected a time that is a finite number of nanoseconds");
  EXPECT_NE(error(std::string(100'000, '[')), "none");
}

// As the arm64 thread printed it (seed, 10 Jul 2024), from samples with its least, greatest, median, mean and spread.
std::vector<double> hundred_with(double least, double greatest, double median, double mean, double sd) {
  // Two at each end, the median twice; 94 at two values that give the mean and the spread.
  std::vector<double> samples{least, greatest, median, median};
  double rest = 100 * mean;
  double squares = 99 * sd * sd;
  for (const double x : samples) {
    rest -= x;
    squares -= (x - mean) * (x - mean);
  }
  // 48 below the median at `low`, 48 above at `high`.
  const double centre = rest / 96;
  const double away = std::sqrt(squares / 96 - (centre - mean) * (centre - mean));
  for (int i = 0; i < 48; ++i) {
    samples.push_back(centre - away);
    samples.push_back(centre + away);
  }
  return samples;
}

TEST(Ministat, PrintsWhatTheArm64ThreadPrintedForExecOnly) {
  const auto before = hundred_with(163840, 219083, 184471, 183262, 12593.229);
  const auto after = hundred_with(211198, 285947, 233608, 238819.98, 15253.967);
  EXPECT_EQ(ministat_text(before, after, 0.95),
            "    N           Min           Max        Median           Avg        Stddev\n"
            "x 100        163840        219083        184471        183262     12593.229\n"
            "+ 100        211198        285947        233608     238819.98     15253.967\n"
            "Difference at 95.0% confidence\n"
            "     55558 +/- 3877\n"
            "     30.3161% +/- 2.11555%\n");
}

TEST(Ministat, ProvesNoDifferenceForTheArm64ThreadsPlainText) {
  const auto before = hundred_with(34770, 84979, 65536, 63537.7, 10358.873);
  const auto after = hundred_with(38077, 87652, 65536, 63119.02, 8792.7399);
  EXPECT_EQ(ministat_text(before, after, 0.95),
            "    N           Min           Max        Median           Avg        Stddev\n"
            "x 100         34770         84979         65536       63537.7     10358.873\n"
            "+ 100         38077         87652         65536      63119.02     8792.7399\n"
            "No difference proven at 95.0% confidence\n");
}

TEST(CompareText, ShowsTableRefusalsAndVerdicts) {
  const RunComparison comparison =
      compared({processes(3, "x", {100, 101, 102, 103, 104}), shaped(counted(4, "y", 1), {.vmas = 1})},
               {processes(3, "x", {200, 201, 202, 203, 204}), shaped(counted(4, "y", 1), {.vmas = 2})});
  const std::string text = compare_text(comparison, {"a.json", "b.json"}, Detail::summaries, Colour::off);
  for (const char* part : {"A is a.json: p.fl, live\n", "102 ns [100–104]", "202 ns [200–204]", "+98.0% ±",
                           "0.0079   different\n", "line 4   y not compared: 1 VMA on A against 2 on B\n",
                           "Difference at 95.0% confidence\n", "Mann–Whitney U = 25, p = 0.0079 (exact)",
                           "1 row different, 0 not proven, 0 counted the same, 1 not compared\n",
                           "corrected for 1 row (Benjamini–Hochberg)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(CompareJson, HoldsTheVerdictAndWhatItRestsOn) {
  const RunComparison comparison =
      compared({processes(3, "x", {100, 101, 102, 103, 104})}, {processes(3, "x", {200, 201, 202, 203, 204})});
  const auto document = nlohmann::json::parse(compare_json(comparison, {"a.json", "b.json"}));
  const auto& row = document["runs"][0]["rows"][0];
  EXPECT_EQ(row["verdict"], "different");
  EXPECT_EQ(row["basis"], "tested");
  EXPECT_DOUBLE_EQ(row["mann_whitney"]["p"], 2.0 / 252);
  EXPECT_DOUBLE_EQ(row["difference"]["value"], 100);
  EXPECT_EQ(document["correction"], "Benjamini-Hochberg");
  EXPECT_EQ(document["different"], 1);
}

}  // namespace
}  // namespace faultline::report
