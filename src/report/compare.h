#pragma once

#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "report/stored_runs.h"
#include "report/verdict.h"

namespace faultline::report {

/// The same row of both sides, with what may be said of it.
struct ComparedRow {
  run::Row first;
  run::Row second;
  std::string refusal;  // why the two may not be compared; then there is no verdict
  Verdict verdict;

  bool comparable() const { return refusal.empty(); }
};

/// A run of each side that belong together, row by row.
struct ComparedRun {
  StoredRun first;  // without its rows: they are in `rows`
  StoredRun second;
  std::vector<ComparedRow> rows;  // in the order of the first
  std::size_t only_first = 0;     // rows that the other side does not have
  std::size_t only_second = 0;
};

struct RunComparison {
  std::vector<ComparedRun> runs;
  std::vector<std::string> unmatched;  // runs of one side that the other has none for
  std::size_t tested = 0;              // rows that the p-values were corrected for

  std::size_t count(Outcome outcome) const;  // of comparable rows
  std::size_t comparable() const;
};

/// The two sides that one file holds, for runs that were taken interleaved: of two programs, the first and the second;
/// of one program, the first and the second run of each set of parameters (`--on live --on live`). The error says what
/// was found instead.
std::expected<std::pair<std::vector<StoredRun>, std::vector<StoredRun>>, std::string> two_sides(
    std::vector<StoredRun> runs);

/// Brings two sides together and judges each row.
///
/// Runs belong together that have the same parameters and program (by path, else by file name, else where each side has
/// a single program) and the same machine (by name, else where each side has a single one of that kind: model:6.1 goes
/// with model:6.12, never with live). Rows belong together that have the same text and measure block, in order; lines
/// may have moved. Rows of unlike shape, work or metric are refused (align()). All rows are corrected for together.
RunComparison compare_runs(std::vector<StoredRun> first, std::vector<StoredRun> second, Independent independent);

}  // namespace faultline::report
