#include "report/verdict.h"

#include <algorithm>

#include "report/counted_difference.h"
#include "stats/interval.h"
#include "stats/many.h"

namespace faultline::report {
namespace {

constexpr double kAlpha = 1 - kConfidence;

Outcome same_unless(bool different) { return different ? Outcome::different : Outcome::same; }

bool counts_instructions(const run::Row& row) { return is_timed(row) && row.metric != run::Metric::nanoseconds; }

bool enough_processes(const run::Row& row) { return row.rounds >= stats::kFewestSamples; }

// All but what the correction for many rows adds.
Verdict judge_alone(const RowPair& pair, Independent independent) {
  const run::Row& a = *pair.first;
  const run::Row& b = *pair.second;
  if (!is_timed(a) && !is_timed(b)) {
    return {.outcome = same_unless(!counted_differences(a, b).empty()),
            .basis = Basis::counted,
            .test = {},
            .corrected = {}};
  }
  // Every run counts the same, so what spreads among the samples of one is no chance.
  if (counts_instructions(a) && counts_instructions(b)) {
    return {.outcome = same_unless(a.samples != b.samples), .basis = Basis::counted, .test = {}, .corrected = {}};
  }
  Verdict verdict{.outcome = Outcome::not_proven,
                  .basis = Basis::too_few,
                  .test = stats::mann_whitney(a.samples, b.samples),
                  .corrected = {}};
  const bool processes_known = enough_processes(a) && enough_processes(b);
  if (independent == Independent::processes && !processes_known) {
    verdict.basis = Basis::one_process;
  } else if (verdict.test) {
    verdict.basis = Basis::tested;
  }
  return verdict;
}

}  // namespace

bool is_timed(const run::Row& row) {
  return row.metric != run::Metric::none && row.metric != run::Metric::predicted && !row.samples.empty();
}

bool is_exact(const run::Row& row) {
  if (!counts_instructions(row)) return false;
  const auto [least, most] = std::ranges::minmax(row.samples);
  return least == most;
}

std::vector<Verdict> judge(std::span<const RowPair> pairs, Independent independent) {
  std::vector<Verdict> verdicts;
  verdicts.reserve(pairs.size());
  std::vector<double> p;
  for (const RowPair& pair : pairs) {
    verdicts.push_back(judge_alone(pair, independent));
    if (verdicts.back().basis == Basis::tested) p.push_back(verdicts.back().test->p);
  }
  const std::vector<double> corrected = stats::corrected(p);
  auto next = corrected.begin();
  for (Verdict& verdict : verdicts) {
    if (verdict.basis != Basis::tested) continue;
    verdict.corrected = *next++;
    verdict.outcome = *verdict.corrected <= kAlpha ? Outcome::different : Outcome::not_proven;
  }
  return verdicts;
}

}  // namespace faultline::report
