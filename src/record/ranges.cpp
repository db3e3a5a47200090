#include "record/ranges.h"

#include <algorithm>
#include <iterator>

namespace faultline::record {

void Ranges::add(Range range) {
  if (range.empty()) return;
  remove(range);
  ends_.emplace(range.start, range.end);
}

void Ranges::remove(Range range) {
  for (const Range& part : overlapping(range)) {
    const auto whole = std::prev(ends_.upper_bound(part.start));
    const Range before{whole->first, whole->second};
    ends_.erase(whole);
    if (before.start < part.start) ends_.emplace(before.start, part.start);
    if (part.end < before.end) ends_.emplace(part.end, before.end);
  }
}

std::vector<Range> Ranges::overlapping(Range range) const {
  std::vector<Range> parts;
  auto place = ends_.upper_bound(range.start);
  if (place != ends_.begin()) --place;
  for (; place != ends_.end() && place->first < range.end; ++place) {
    const Range part{std::max(place->first, range.start), std::min(place->second, range.end)};
    if (part.start < part.end) parts.push_back(part);
  }
  return parts;
}

}  // namespace faultline::record
