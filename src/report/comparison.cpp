#include "report/comparison.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <ranges>

#include "report/format.h"
#include "report/verdict.h"

namespace faultline::report {
namespace {

// What makes two rows the same row of the program. The occurrence tells apart two statements on one line: every
// machine lists the rows of one line in the same order.
struct Identity {
  run::RowKind kind{};
  std::uint32_t line = 0;
  std::uint32_t occurrence = 0;
  bool operator==(const Identity&) const = default;

  template <class H>
  friend H AbslHashValue(H hash, const Identity& identity) {
    return H::combine(std::move(hash), identity.kind, identity.line, identity.occurrence);
  }
};

// A row that only some machines have goes where its own machine had it: behind the row before it.
std::list<AlignedRow> bring_together(const Comparison& comparison) {
  std::list<AlignedRow> rows;
  absl::flat_hash_map<Identity, std::list<AlignedRow>::iterator> places;
  for (std::size_t machine = 0; machine < comparison.reports.size(); ++machine) {
    absl::flat_hash_map<Identity, std::uint32_t> occurrences;
    auto next = rows.begin();
    for (const run::Row& row : comparison.reports[machine].rows) {
      const Identity identity{row.kind, row.line, occurrences[{row.kind, row.line, 0}]++};
      auto place = places.find(identity);
      if (place == places.end()) {
        const auto inserted = rows.insert(next, AlignedRow{});
        inserted->cells.resize(comparison.reports.size());
        place = places.emplace(identity, inserted).first;
      }
      place->second->cells[machine] = &row;
      next = std::next(place->second);
    }
  }
  return rows;
}

// An operation that one machine never reached, and another did, is no unequal work: how that run ended is told.
void leave_out_unreached(AlignedRow& row) {
  const auto reached = [](const run::Row* cell) { return cell != nullptr && cell->calls > 0; };
  if (std::ranges::none_of(row.cells, reached)) return;
  for (const run::Row*& cell : row.cells) {
    if (!reached(cell)) cell = nullptr;
  }
}

struct Side {
  const run::Row& row;
  const std::string& machine;
};

using Field = std::optional<std::uint64_t> run::Shape::*;

std::string differing_field(const Side& a, const Side& b, Field field, std::string_view one, std::string_view many) {
  const auto& x = a.row.before.*field;
  const auto& y = b.row.before.*field;
  if (!x || !y || *x == *y) return {};
  return fmt::format("{} on {} against {} on {}", plural(*x, one, many), a.machine, thousands(*y), b.machine);
}

std::string failed_calls(const run::Row& row) {
  return fmt::format("{} of {}", thousands(row.failures), plural(row.calls, "call", "calls"));
}

// Failures are unequal work only where costs are compared; between machines that only count they are the result.
std::string refusal(const Side& a, const Side& b) {
  if (auto text = differing_field(a, b, &run::Shape::vmas, "VMA", "VMAs"); !text.empty()) return text;
  if (auto text = differing_field(a, b, &run::Shape::present, "page present", "pages present"); !text.empty()) {
    return text;
  }
  if (auto text = differing_field(a, b, &run::Shape::huge, "huge page", "huge pages"); !text.empty()) return text;
  if (a.row.calls != b.row.calls) {
    return fmt::format("{} on {} against {} on {}", plural(a.row.calls, "call", "calls"), a.machine,
                       thousands(b.row.calls), b.machine);
  }
  if (is_timed(a.row) && is_timed(b.row) && a.row.failures != b.row.failures) {
    return fmt::format("{} failed on {} against {} on {}", failed_calls(a.row), a.machine, thousands(b.row.failures),
                       b.machine);
  }
  return {};
}

// Every pair, not each against the first: the first may not know a field in which two others differ.
std::string judge(const AlignedRow& row, const Comparison& comparison) {
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (row.cells[i] == nullptr) continue;
    for (std::size_t j = i + 1; j < row.cells.size(); ++j) {
      if (row.cells[j] == nullptr) continue;
      std::string why =
          refusal({*row.cells[i], comparison.reports[i].machine}, {*row.cells[j], comparison.reports[j].machine});
      if (!why.empty()) return why;
    }
  }
  return {};
}

// The first refused line of each measure block; a block is refused with it.
void refuse_blocks(std::vector<AlignedRow>& rows) {
  std::map<std::string, std::uint32_t> refused;
  for (const AlignedRow& row : rows) {
    if (row.any().kind == run::RowKind::operation && !row.comparable() && !row.any().measure.empty()) {
      refused.emplace(row.any().measure, row.any().line);
    }
  }
  for (AlignedRow& row : rows) {
    if (row.any().kind != run::RowKind::measure || !row.comparable()) continue;
    const auto found = refused.find(row.any().text);
    if (found != refused.end()) row.refusal = fmt::format("it contains line {}", found->second);
  }
}

}  // namespace

const run::Row& AlignedRow::any() const {
  return **std::ranges::find_if(cells, [](const run::Row* cell) { return cell != nullptr; });
}

std::vector<AlignedRow> align(const Comparison& comparison) {
  std::list<AlignedRow> together = bring_together(comparison);
  std::vector<AlignedRow> rows(std::make_move_iterator(together.begin()), std::make_move_iterator(together.end()));
  for (AlignedRow& row : rows) {
    leave_out_unreached(row);
    row.refusal = judge(row, comparison);
  }
  refuse_blocks(rows);
  return rows;
}

}  // namespace faultline::report
