#include "report/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "report/counted_difference.h"
#include "report/format.h"
#include "report/verdict.h"
#include "stats/interval.h"
#include "stats/summary.h"

namespace faultline::report {
namespace {

constexpr auto kFaultKinds = std::to_array<Counter>(
    {Counter::fault_read, Counter::fault_write, Counter::fault_file, Counter::fault_copy, Counter::fault_reuse,
     Counter::fault_spurious, Counter::fault_numa, Counter::fault_nested, Counter::fault_disabled, Counter::fault_guard,
     Counter::fault_uffd, Counter::fault_signal, Counter::populated});

bool knows(const run::Row& row, Counter counter) {
  return row.counted_calls > 0 && row.known.test(std::to_underlying(counter));
}

bool knows_every_kind(const run::Row& row) {
  return std::ranges::all_of(kFaultKinds, [&](Counter kind) { return knows(row, kind); });
}

bool not_zero_anywhere(const AlignedRow& row, Counter counter) {
  return std::ranges::any_of(row.cells, [&](const run::Row* cell) {
    return cell != nullptr && knows(*cell, counter) && cell->counted[counter] != 0;
  });
}

bool differs(const AlignedRow& row, Counter counter) {
  const run::Row* first = nullptr;
  for (const run::Row* cell : row.cells) {
    if (cell == nullptr || !knows(*cell, counter)) continue;
    if (first != nullptr && !same_per_call(*first, *cell, counter)) return true;
    first = cell;
  }
  return false;
}

bool any_cell(const AlignedRow& row, bool (*holds)(const run::Row&)) {
  return std::ranges::any_of(row.cells, [&](const run::Row* cell) { return cell != nullptr && holds(*cell); });
}

// The two totals are worth a line only where they say more than the kinds do: where machines take different numbers of
// exceptions, the number is what is asked for.
bool exceptions_say_more(const AlignedRow& row) {
  return differs(row, Counter::exceptions) ||
         any_cell(row, [](const run::Row& cell) { return !knows_every_kind(cell); });
}
bool minor_faults_say_more(const AlignedRow& row) {
  return any_cell(row, [](const run::Row& cell) { return !knows(cell, Counter::exceptions); }) ||
         any_cell(row, [](const run::Row& cell) {
           return knows(cell, Counter::minor_faults) &&
                  cell.counted[Counter::minor_faults] != cell.counted[Counter::exceptions];
         });
}

// What predictions are made of; seldom what a reader asks for.
bool is_detail(Counter counter) { return counter >= Counter::accesses; }

bool shown(const AlignedRow& row, Counter counter, Counted counted) {
  if (!not_zero_anywhere(row, counter)) return false;
  if (counted == Counted::all || std::ranges::find(kFaultKinds, counter) != kFaultKinds.end()) return true;
  if (counter == Counter::ipis) return true;  // the answer, where several processors were asked for
  if (counter == Counter::exceptions) return exceptions_say_more(row);
  if (counter == Counter::minor_faults) return minor_faults_say_more(row);
  return !is_detail(counter) && differs(row, counter);
}

std::string_view unit(run::Metric metric) { return metric == run::Metric::nanoseconds ? " ns" : ""; }

// Under 100 a nanosecond's tenth matters; a count is whole.
int decimals(const run::Row& row, double median) {
  return row.metric == run::Metric::nanoseconds && median < 100 ? 1 : 0;
}

}  // namespace

std::string figure(const run::Row* row) {
  if (row == nullptr) return "–";
  if (row->metric == run::Metric::none) return "";
  const auto summary = stats::summarise(row->samples);
  if (!summary) return "–";
  const std::string median = decimal(summary->median, decimals(*row, summary->median));
  if (row->metric == run::Metric::predicted) {
    return fmt::format("~{} ±{}", median, percent(row->error.value_or(0)));
  }
  if (is_exact(*row)) return fmt::format("{}{}", median, unit(row->metric));
  if (summary->n < stats::kFewestSamples) {
    return fmt::format("{}{} ({})", median, unit(row->metric), plural(summary->n, "sample", "samples"));
  }
  const auto spread = stats::relative_spread(*summary);
  // Right-aligned in five columns, so that the medians above each other stay aligned.
  const std::string shown = spread ? "±" + percent(*spread) : "";
  const std::string blanks(shown.empty() || width(shown) >= 5 ? 0 : 5 - width(shown), ' ');
  return fmt::format("{}{} {}{}", median, unit(row->metric), blanks, shown);
}

std::vector<Counter> shown_counters(const AlignedRow& row, Counted counted) {
  std::vector<Counter> counters;
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (shown(row, counter, counted)) counters.push_back(counter);
  }
  return counters;
}

std::string count(const run::Row* row, Counter counter) {
  if (row == nullptr || !knows(*row, counter)) return "–";
  return per_call(row->counted[counter], row->counted_calls);
}

}  // namespace faultline::report
