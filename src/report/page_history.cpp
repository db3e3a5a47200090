#include "report/page_history.h"

#include <iterator>
#include <vector>

namespace faultline::report {

/// Afterwards no span reaches over `at`.
void PageHistory::cut(Addr at) {
  auto next = spans_.lower_bound(at);
  if (next == spans_.begin()) return;
  Span& below = std::prev(next)->second;
  if (below.end <= at) return;
  const Span upper = below;
  below.end = at;
  spans_.emplace(at, upper);
}

void PageHistory::record(Range range, const PageChange& change) {
  if (range.empty()) return;
  cut(range.start);
  cut(range.end);
  auto place = spans_.erase(spans_.lower_bound(range.start), spans_.lower_bound(range.end));
  // Pages that one step changes one after the other are one span.
  if (place != spans_.begin()) {
    Span& below = std::prev(place)->second;
    if (below.end == range.start && below.change == change) {
      below.end = range.end;
      return;
    }
  }
  spans_.emplace(range.start, Span{range.end, change});
}

void PageHistory::record_unless_changed(Range range, const PageChange& change) {
  cut(range.start);
  cut(range.end);
  std::vector<Range> open;
  Addr from = range.start;
  for (auto it = spans_.lower_bound(range.start); it != spans_.end() && it->first < range.end; ++it) {
    if (it->second.change.step != change.step) continue;
    open.push_back({from, it->first});
    from = it->second.end;
  }
  open.push_back({from, range.end});
  for (const Range part : open) record(part, change);
}

std::optional<PageChange> PageHistory::last_change(Addr page) const {
  auto above = spans_.upper_bound(page);
  if (above == spans_.begin()) return std::nullopt;
  const Span& span = std::prev(above)->second;
  return page < span.end ? std::optional(span.change) : std::nullopt;
}

std::optional<PageChange> PageHistory::newest_change(Range range) const {
  std::optional<PageChange> newest;
  auto place = spans_.upper_bound(range.start);
  if (place != spans_.begin()) --place;
  for (; place != spans_.end() && place->first < range.end; ++place) {
    const auto& [end, change] = place->second;
    if (end > range.start && (!newest || newest->step < change.step)) newest = change;
  }
  return newest;
}

}  // namespace faultline::report
