#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <optional>

#include "base/page.h"
#include "mm/trace.h"
#include "program/program.h"

namespace faultline::report {

/// The step that changed a page last, and what mprotect decided about the page if it was one.
struct PageChange {
  std::uint64_t step = 0;
  const program::Statement* statement = nullptr;  // belongs to the program
  mm::Rule upgrade = mm::Rule::none;
  bool operator==(const PageChange&) const = default;
};

/// For every page of one process the last step that changed its page-table entry. Memory is proportional to the ranges
/// with different histories, not to the pages.
class PageHistory {
 public:
  /// `change` is the last one of the pages in the range.
  void record(Range range, const PageChange& change);
  /// The same for those pages of the range that the same step has not changed yet.
  void record_unless_changed(Range range, const PageChange& change);

  std::optional<PageChange> last_change(Addr page) const;
  /// The newest change of any page in the range.
  std::optional<PageChange> newest_change(Range range) const;

 private:
  struct Span {
    Addr end;
    PageChange change;
  };
  void cut(Addr at);

  absl::btree_map<Addr, Span> spans_;  // by start; disjoint
};

}  // namespace faultline::report
