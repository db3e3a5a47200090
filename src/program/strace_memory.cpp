#include "program/strace_memory.h"

#include <algorithm>
#include <iterator>

namespace faultline::program {

RecordedMemory::Ranges& RecordedMemory::own() {
  if (ranges_.use_count() > 1) ranges_ = std::make_shared<Ranges>(*ranges_);
  return *ranges_;
}

/// Splits the range that `at` lies inside of.
void RecordedMemory::cut(Ranges& ranges, std::uint64_t at) {
  const auto behind = ranges.lower_bound(at);
  if (behind == ranges.begin()) return;
  Known& before = std::prev(behind)->second;
  if (before.end <= at) return;
  ranges.emplace_hint(behind, at, before);
  before.end = at;
}

void RecordedMemory::set(Range range, RecordedState state) {
  if (range.empty()) return;
  Ranges& ranges = own();
  std::uint64_t start = range.start.value;
  std::uint64_t end = range.end.value;
  cut(ranges, start);
  cut(ranges, end);
  auto behind = ranges.erase(ranges.lower_bound(start), ranges.lower_bound(end));
  if (behind != ranges.end() && behind->first == end && behind->second.state == state) {
    end = behind->second.end;
    behind = ranges.erase(behind);
  }
  if (behind != ranges.begin()) {
    Known& before = std::prev(behind)->second;
    if (before.end == start && before.state == state) {
      before.end = end;
      return;
    }
  }
  ranges.emplace_hint(behind, start, Known{end, state});
}

template <class Visit>
void RecordedMemory::visit(Range range, Visit visit) const {
  std::uint64_t at = range.start.value;
  const std::uint64_t end = range.end.value;
  auto known = ranges_->upper_bound(at);
  if (known != ranges_->begin() && std::prev(known)->second.end > at) --known;
  while (at < end) {
    const bool gap = known == ranges_->end() || known->first > at;
    const std::uint64_t next = known == ranges_->end() ? end : gap ? known->first : known->second.end;
    const Range part{Addr{at}, Addr{std::min(next, end)}};
    if (!visit(part, gap ? RecordedState::unknown : known->second.state)) return;
    if (!gap) ++known;
    at = part.end.value;
  }
}

bool RecordedMemory::any(Range range, RecordedState state) const {
  bool found = false;
  visit(range, [&](Range, RecordedState there) { return !(found = there == state); });
  return found;
}

std::vector<Range> RecordedMemory::unmapped_parts(Range range, Unmapped which) const {
  std::vector<Range> parts;
  visit(range, [&](Range part, RecordedState there) {
    const bool wanted = there == RecordedState::unknown || (which == Unmapped::any && there == RecordedState::unmapped);
    if (!wanted) return true;
    if (!parts.empty() && parts.back().end == part.start) {
      parts.back().end = part.end;
    } else {
      parts.push_back(part);
    }
    return true;
  });
  return parts;
}

}  // namespace faultline::program
