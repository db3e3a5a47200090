#include "mm/gap_index.h"

#include <bit>
#include <iterator>

namespace faultline::mm {

GapIndex::GapIndex(Range space) : space_(space) { add(space); }

std::size_t GapIndex::class_of(std::uint64_t bytes) { return std::bit_width(bytes >> kPageShift) - 1; }

void GapIndex::add(Range gap) {
  if (gap.empty()) return;
  end_by_start_.emplace(gap.start.value, gap.end.value);
  by_class_[class_of(gap.bytes())].insert(gap.start.value);
}

void GapIndex::remove(Range gap) {
  end_by_start_.erase(gap.start.value);
  by_class_[class_of(gap.bytes())].erase(gap.start.value);
}

void GapIndex::take(Range range) {
  range = range.intersect(space_);
  if (range.empty()) return;
  const auto holder = std::prev(end_by_start_.upper_bound(range.start.value));
  const Range gap{Addr{holder->first}, Addr{holder->second}};
  remove(gap);
  add({gap.start, range.start});
  add({range.end, gap.end});
}

void GapIndex::give(Range range) {
  range = range.intersect(space_);
  if (range.empty()) return;
  auto above = end_by_start_.lower_bound(range.start.value);
  Range joined = range;
  Range lower{};
  Range upper{};
  if (above != end_by_start_.begin()) {
    const auto below = std::prev(above);
    if (below->second == range.start.value) lower = {Addr{below->first}, Addr{below->second}};
  }
  if (above != end_by_start_.end() && above->first == range.end.value) {
    upper = {Addr{above->first}, Addr{above->second}};
  }
  if (!lower.empty()) {
    remove(lower);
    joined.start = lower.start;
  }
  if (!upper.empty()) {
    remove(upper);
    joined.end = upper.end;
  }
  add(joined);
}

std::optional<Addr> GapIndex::highest(std::uint64_t bytes) const {
  const std::size_t own = class_of(bytes);
  std::optional<std::uint64_t> best;  // start of the best gap
  for (std::size_t c = own + 1; c < kClasses; ++c) {
    if (!by_class_[c].empty()) best = std::max(best.value_or(0), *by_class_[c].rbegin());
  }
  // In the request's own class a gap may be too small; gaps below the best one so far cannot win.
  for (auto it = by_class_[own].rbegin(); it != by_class_[own].rend() && (!best || *it > *best); ++it) {
    if (end_by_start_.at(*it) - *it >= bytes) {
      best = *it;
      break;
    }
  }
  if (!best) return std::nullopt;
  return Addr{end_by_start_.at(*best) - bytes};
}

}  // namespace faultline::mm
