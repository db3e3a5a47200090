#include "report/compare.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <tuple>

#include "report/format.h"
#include "stats/interval.h"

namespace faultline::report {
namespace {

std::string metric_words(run::Metric metric) {
  switch (metric) {
    case run::Metric::none:
      return "counts";
    case run::Metric::nanoseconds:
      return "nanoseconds";
    case run::Metric::instructions:
      return "instructions";
    case run::Metric::predicted:
      return "predicted instructions";
  }
  return {};
}

using RowKey = std::tuple<run::RowKind, std::string, std::string>;

RowKey key_of(const run::Row& row) { return {row.kind, row.text, row.measure}; }

struct Matched {
  std::vector<run::Row> first;
  std::vector<run::Row> second;  // second[i] belongs to first[i]
  std::size_t only_first = 0;
  std::size_t only_second = 0;
};

Matched match_rows(std::vector<run::Row> first, std::vector<run::Row> second) {
  absl::flat_hash_map<RowKey, std::deque<std::size_t>> places;
  for (std::size_t i = 0; i < second.size(); ++i) places[key_of(second[i])].push_back(i);
  Matched matched;
  for (run::Row& row : first) {
    const auto found = places.find(key_of(row));
    if (found == places.end() || found->second.empty()) {
      ++matched.only_first;
      continue;
    }
    matched.second.push_back(std::move(second[found->second.front()]));
    matched.first.push_back(std::move(row));
    found->second.pop_front();
  }
  matched.only_second = second.size() - matched.second.size();
  return matched;
}

// align() knows rows by kind and line: on both sides each pair gets the first side's line, and same lines come in the
// same order. Its sides are called A and B, as the machines may have one name.
std::vector<std::string> refusals_of(const Matched& matched) {
  Comparison comparison;
  comparison.reports.resize(2);
  comparison.reports[0].machine = "A";
  comparison.reports[1].machine = "B";
  comparison.reports[0].rows = matched.first;
  comparison.reports[1].rows = matched.second;
  for (std::size_t i = 0; i < matched.first.size(); ++i) comparison.reports[1].rows[i].line = matched.first[i].line;
  std::vector<std::string> refusals;
  for (const AlignedRow& row : align(comparison)) {
    const bool one_sided = row.cells[0] == nullptr || row.cells[1] == nullptr;
    refusals.push_back(one_sided ? fmt::format("never executed in {}", row.cells[0] == nullptr ? "A" : "B")
                                 : row.refusal);
  }
  return refusals;
}

// A prediction is not compared, what was counted is.
run::Metric compared_metric(const run::Row& row) {
  return row.metric == run::Metric::predicted ? run::Metric::none : row.metric;
}

std::string refusal_of(const run::Row& a, const run::Row& b, std::string by_shape) {
  if (!by_shape.empty()) return by_shape;
  if (compared_metric(a) != compared_metric(b))
    return fmt::format("{} in A against {} in B", metric_words(a.metric), metric_words(b.metric));
  if (is_timed(a) != is_timed(b)) return fmt::format("no samples in {}", is_timed(a) ? "B" : "A");
  const bool exact = !is_timed(a) || (is_exact(a) && is_exact(b));
  const std::size_t fewest = std::min(a.samples.size(), b.samples.size());
  if (!exact && fewest < stats::kFewestSamples) {
    return fmt::format("{} in {}: fewer than three say nothing", plural(fewest, "sample", "samples"),
                       a.samples.size() == fewest ? "A" : "B");
  }
  return {};
}

ComparedRun compare_pair(StoredRun first, StoredRun second) {
  Matched matched = match_rows(std::move(first.report.rows), std::move(second.report.rows));
  first.report.rows.clear();
  second.report.rows.clear();
  ComparedRun run{std::move(first), std::move(second), {}, matched.only_first, matched.only_second};
  std::vector<std::string> by_shape = refusals_of(matched);
  for (std::size_t i = 0; i < matched.first.size(); ++i) {
    std::string refusal = refusal_of(matched.first[i], matched.second[i], std::move(by_shape[i]));
    run.rows.push_back({std::move(matched.first[i]), std::move(matched.second[i]), std::move(refusal), {}});
  }
  return run;
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string machine_kind(const std::string& machine) { return machine.substr(0, machine.find(':')); }

std::string params_text(const StoredRun& run) {
  std::string text;
  for (const ParamValue& param : run.params) text += fmt::format(" {}={}", param.name, param.value);
  return text;
}

std::string run_title(const StoredRun& run) {
  return fmt::format("{}{} on {}", printable(run.program, 200), params_text(run), run.report.machine);
}

using Key = std::string;
using KeyOf = Key (*)(const StoredRun&);

Key join(const std::string& program, const StoredRun& run, const std::string& machine) {
  return fmt::format("{}\n{}\n{}", program, params_text(run), machine);
}

// From what says most to what says least.
constexpr KeyOf kKeys[] = {
    [](const StoredRun& run) { return join(run.program, run, run.report.machine); },
    [](const StoredRun& run) { return join(file_name(run.program), run, run.report.machine); },
    [](const StoredRun& run) { return join(run.program, run, machine_kind(run.report.machine)); },
    [](const StoredRun& run) { return join(file_name(run.program), run, machine_kind(run.report.machine)); },
};
constexpr KeyOf kKeysOfSinglePrograms[] = {
    [](const StoredRun& run) { return join("", run, run.report.machine); },
    [](const StoredRun& run) { return join("", run, machine_kind(run.report.machine)); },
};

using Runs = std::deque<StoredRun>;
using Places = absl::flat_hash_map<Key, std::vector<std::size_t>>;

Places places_by(const Runs& runs, KeyOf key, const std::vector<bool>& taken) {
  Places places;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!taken[i]) places[key(runs[i])].push_back(i);
  }
  return places;
}

std::size_t programs_in(const Runs& runs) {
  absl::flat_hash_set<std::string> programs;
  for (const StoredRun& run : runs) programs.insert(run.program);
  return programs.size();
}

class Matching {
 public:
  Matching(std::vector<StoredRun> first, std::vector<StoredRun> second)
      : first_(std::make_move_iterator(first.begin()), std::make_move_iterator(first.end())),
        second_(std::make_move_iterator(second.begin()), std::make_move_iterator(second.end())),
        first_taken_(first_.size()),
        second_taken_(second_.size()),
        partner_(first_.size()) {
    for (const KeyOf key : kKeys) match_by(key);
    if (programs_in(first_) != 1 || programs_in(second_) != 1) return;
    for (const KeyOf key : kKeysOfSinglePrograms) match_by(key);
  }

  RunComparison compare() && {
    RunComparison comparison;
    for (std::size_t i = 0; i < first_.size(); ++i) {
      if (!first_taken_[i]) comparison.unmatched.push_back("only in A: " + run_title(first_[i]));
    }
    for (std::size_t i = 0; i < second_.size(); ++i) {
      if (!second_taken_[i]) comparison.unmatched.push_back("only in B: " + run_title(second_[i]));
    }
    for (std::size_t i = 0; i < first_.size(); ++i) {
      if (first_taken_[i])
        comparison.runs.push_back(compare_pair(std::move(first_[i]), std::move(second_[partner_[i]])));
    }
    return comparison;
  }

 private:
  // Only where the key names one run on each side: a choice between several would be a guess.
  void match_by(KeyOf key) {
    const Places first = places_by(first_, key, first_taken_);
    const Places second = places_by(second_, key, second_taken_);
    for (const auto& [name, places] : first) {
      const auto found = second.find(name);
      if (found == second.end() || places.size() != 1 || found->second.size() != 1) continue;
      partner_[places.front()] = found->second.front();
      first_taken_[places.front()] = true;
      second_taken_[found->second.front()] = true;
    }
  }

  Runs first_;
  Runs second_;
  std::vector<bool> first_taken_;
  std::vector<bool> second_taken_;
  std::vector<std::size_t> partner_;
};

}  // namespace

std::size_t RunComparison::count(Outcome outcome) const {
  std::size_t found = 0;
  for (const ComparedRun& run : runs) {
    found += static_cast<std::size_t>(std::ranges::count_if(
        run.rows, [&](const ComparedRow& row) { return row.comparable() && row.verdict.outcome == outcome; }));
  }
  return found;
}

std::size_t RunComparison::comparable() const {
  return count(Outcome::different) + count(Outcome::not_proven) + count(Outcome::same);
}

std::expected<std::pair<std::vector<StoredRun>, std::vector<StoredRun>>, std::string> two_sides(
    std::vector<StoredRun> runs) {
  std::vector<std::string> programs;
  for (const StoredRun& run : runs) {
    if (std::ranges::find(programs, run.program) == programs.end()) programs.push_back(run.program);
    if (programs.size() > 2) return std::unexpected("it holds more than two programs; expected two, or another file");
  }
  std::pair<std::vector<StoredRun>, std::vector<StoredRun>> sides;
  absl::flat_hash_map<Key, std::size_t> seen;
  for (StoredRun& run : runs) {
    const std::size_t nth = programs.size() == 2 ? (run.program == programs[0] ? 0 : 1) : seen[params_text(run)]++;
    if (nth > 1) return std::unexpected("it holds more than two machines; expected two, or another file");
    (nth == 0 ? sides.first : sides.second).push_back(std::move(run));
  }
  if (sides.second.empty()) return std::unexpected("it holds one side only; expected a second file");
  return sides;
}

RunComparison compare_runs(std::vector<StoredRun> first, std::vector<StoredRun> second, Independent independent) {
  RunComparison comparison = Matching(std::move(first), std::move(second)).compare();
  std::vector<RowPair> pairs;
  std::vector<ComparedRow*> rows;
  for (ComparedRun& run : comparison.runs) {
    for (ComparedRow& row : run.rows) {
      if (!row.comparable()) continue;
      pairs.push_back({&row.first, &row.second});
      rows.push_back(&row);
    }
  }
  const std::vector<Verdict> verdicts = judge(pairs, independent);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i]->verdict = verdicts[i];
    comparison.tested += verdicts[i].basis == Basis::tested ? 1 : 0;
  }
  return comparison;
}

}  // namespace faultline::report
