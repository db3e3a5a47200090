#include "export/relevance.h"

#include <algorithm>
#include <map>
#include <set>

#include "run/step_range.h"

namespace faultline::exports {
namespace {

using program::Sys;

/// Disjoint ranges; those that touch become one.
class RangeSet {
 public:
  void add(Range range) {
    auto at = ranges_.upper_bound(range.start);
    if (at != ranges_.begin() && std::prev(at)->second >= range.start) --at;
    while (at != ranges_.end() && at->first <= range.end) {
      range = {std::min(range.start, at->first), std::max(range.end, at->second)};
      at = ranges_.erase(at);
    }
    ranges_[range.start] = range.end;
  }
  bool overlaps(Range range) const {
    const auto at = ranges_.lower_bound(range.end);
    return at != ranges_.begin() && std::prev(at)->second > range.start;
  }

 private:
  std::map<Addr, Addr> ranges_;
};

/// What holds for all that a process does from then on.
bool is_of_whole_process(const Event& event) {
  const auto* call = std::get_if<program::SystemCall>(&event.statement->node);
  if (call == nullptr) return false;
  return call->sys == Sys::mlockall || call->sys == Sys::munlockall || call->sys == Sys::prctl ||
         call->sys == Sys::prlimit64;
}

/// With what read faults on files around it map together: windows of 16 pages, which begin where a mapping does. That
/// neighbours merge needs less.
Range with_neighbours(Range range) {
  constexpr std::uint64_t kWindow = 16 * kPageSize;
  const std::uint64_t start = range.start.value / kWindow * kWindow;
  const bool at_top = range.end.value > ~std::uint64_t{0} - 2 * kWindow;
  return {Addr{start - std::min(start, kWindow)}, at_top ? range.end : range.end + 2 * kWindow};
}

}  // namespace

std::vector<Range> ranges_of(const Event& event) {
  std::vector<Range> ranges;
  if (event.kind != EventKind::operation) return ranges;
  const std::span<const std::uint64_t> arguments(event.arguments.data(), event.arguments_count);
  const run::Step step{0, event.process, event.statement, arguments};
  if (const auto range = run::worked_on(step, {event.value, event.error, event.signal, {}})) ranges.push_back(*range);
  const auto* call = std::get_if<program::SystemCall>(&event.statement->node);
  if (call == nullptr || call->sys != Sys::mremap || event.error || event.arguments[1] == 0) return ranges;
  ranges.push_back(Range::of(Addr{event.arguments[0]}.page_floor(), page_ceil(event.arguments[1])));
  return ranges;
}

std::vector<std::size_t> relevant_events(const std::vector<Event>& events, const Descriptors& descriptors) {
  std::size_t end = events.size();
  while (end > 0 && !events[end - 1].chosen) --end;
  RangeSet watched;
  std::set<std::uint32_t> processes;  // in which something chosen happens, and those that they came of
  for (const Event& event : events) {
    if (!event.chosen) continue;
    processes.insert(event.process);
    for (const Range range : ranges_of(event)) watched.add(with_neighbours(range));
  }
  for (std::size_t i = end; i-- > 0;) {
    if (events[i].kind == EventKind::fork && processes.contains(events[i].child)) processes.insert(events[i].process);
  }
  std::vector<std::size_t> relevant;
  for (std::size_t i = end; i-- > 0;) {
    const Event& event = events[i];
    if (event.chosen || descriptors.set_up_of(i)) continue;
    if (event.kind != EventKind::operation) {
      if (processes.contains(event.process)) relevant.push_back(i);
      continue;
    }
    const std::vector<Range> ranges = ranges_of(event);
    const bool overlaps = std::ranges::any_of(ranges, [&](Range range) { return watched.overlaps(range); });
    if (!overlaps && !is_of_whole_process(event)) continue;
    // Pages came from where mremap found them.
    if (ranges.size() > 1) std::ranges::for_each(ranges, [&](Range range) { watched.add(range); });
    relevant.push_back(i);
  }
  std::ranges::reverse(relevant);
  return relevant;
}

}  // namespace faultline::exports
