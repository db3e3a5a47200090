#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/row.h"

/// One program's run on several machines, with rows brought side by side, and the judgement of which may be compared.
namespace faultline::report {

/// A parameter's value in a run; `text` is how it was written ("128K").
struct ParamValue {
  std::string name;
  std::uint64_t value = 0;
  std::string text;
};

/// One program, one set of parameters, any number of machines.
struct Comparison {
  std::string program;             // the path as given
  std::string answers;             // what the program answers; may be empty
  std::vector<ParamValue> params;  // in the order of the program
  std::vector<run::Report> reports;
  std::vector<std::string> notes = {};  // about the program itself: what the import of a log left out
};

/// The same operation on every machine. `cells[i]` is its row in reports[i], null where that machine did not get there
/// while another did. At least one cell is not null.
struct AlignedRow {
  std::vector<const run::Row*> cells;
  /// Why the cells may not be held against each other: "12 VMAs on model:6.12 against 1,000 on live". Empty when they
  /// may, or when there is only one.
  std::string refusal;

  const run::Row& any() const;
  bool comparable() const { return refusal.empty(); }
};

/// Brings the rows of all reports side by side, in the order of the program, and judges each (design.md §8: rows of
/// different shape are never compared). A measure block is comparable only if all operations in it are. The result
/// points into `comparison`, which must outlive it. Linear in the number of rows.
std::vector<AlignedRow> align(const Comparison& comparison);

}  // namespace faultline::report
