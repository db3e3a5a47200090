#pragma once

#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/footnotes.h"

namespace faultline::report {

/// The last column of a table of two machines.
struct ChangeColumn {
  /// A cell per row: "+66.2%" from the first timed cell's median to the second's where the difference is proven or
  /// counted, "not proven" where it is not. Empty unless exactly two cells are timed, in the same metric, and the row
  /// is comparable.
  std::vector<std::string> cells;
  /// How it was judged, for below the table.
  std::vector<Footnote> notes;

  bool empty() const;
};

ChangeColumn change_column(const std::vector<AlignedRow>& rows);

}  // namespace faultline::report
