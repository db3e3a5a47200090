#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "run/row.h"
#include "stats/rank_test.h"

namespace faultline::report {

/// The confidence of every interval and verdict that a table shows.
inline constexpr double kConfidence = 0.95;

/// What may be said of two rows. Measured rows are never called the same.
enum class Outcome : std::uint8_t {
  different,
  not_proven,
  same,  // counted exactly, on both sides alike
};

/// What an outcome rests on.
enum class Basis : std::uint8_t {
  counted,      // counts, which every run repeats, compared as such
  tested,       // the Mann–Whitney test, corrected for the rows that are judged together
  one_process,  // no test: samples of one process on a side say nothing of how processes differ
  too_few,      // no test: fewer than three samples on a side
};

/// What counts as an independent sample of a measured row.
enum class Independent : std::uint8_t {
  processes,  // each process gives one: rows of fewer than three processes prove nothing
  samples,    // every sample does, as if processes never differed
};

struct RowPair {
  const run::Row* first = nullptr;
  const run::Row* second = nullptr;
};

struct Verdict {
  Outcome outcome = Outcome::not_proven;
  Basis basis = Basis::too_few;
  std::optional<stats::RankTest> test;  // wherever there are samples enough, whatever the basis
  std::optional<double> corrected;      // the p-value that decided; only where `basis` is tested
};

/// Does the row have a figure that can be held against another's? A prediction is none: what it is made of is.
bool is_timed(const run::Row& row);

/// Are its samples counts that repeated exactly?
bool is_exact(const run::Row& row);

/// Judges pairs of like rows of one metric together: the p-values of all that are tested are corrected for being many
/// (stats::corrected). Rows that are not timed are judged by what they count. A verdict per pair, in order.
std::vector<Verdict> judge(std::span<const RowPair> pairs, Independent independent);

}  // namespace faultline::report
