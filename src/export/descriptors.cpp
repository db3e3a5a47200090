#include "export/descriptors.h"

#include <utility>

#include "base/flags.h"

namespace faultline::exports {
namespace {

using program::Sys;

const program::SystemCall* call_of(const Event& event) {
  return event.statement == nullptr ? nullptr : std::get_if<program::SystemCall>(&event.statement->node);
}

bool is_call(const Event& event, Sys sys) { return call_of(event) != nullptr && call_of(event)->sys == sys; }

}  // namespace

std::optional<std::size_t> descriptor_argument(const Event& event) {
  const program::SystemCall* call = call_of(event);
  if (call == nullptr) return std::nullopt;
  switch (call->sys) {
    case Sys::mmap: {
      const auto flags = static_cast<MapFlags>(event.arguments[3]);
      return has(flags, MapFlags::anonymous) ? std::nullopt : std::optional<std::size_t>(4);
    }
    case Sys::ftruncate:
    case Sys::close:
    case Sys::read:
    case Sys::write:
    case Sys::lseek:
    case Sys::fcntl:
      return 0;
    default:
      return std::nullopt;
  }
}

Descriptors::Descriptors(const std::vector<Event>& events) : uses_(events.size()), set_up_(events.size()) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> made;  // by process and number
  std::vector<bool> used(events.size());                                // by the event that made it: beyond its set-up
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (event.kind == EventKind::fork) {
      std::vector<std::pair<std::uint64_t, std::size_t>> inherited;
      for (auto at = made.lower_bound({event.process, 0}); at != made.end() && at->first.first == event.process; ++at) {
        inherited.emplace_back(at->first.second, at->second);
      }
      for (const auto& [number, maker] : inherited) made[{event.child, number}] = maker;
      continue;
    }
    if (const auto argument = descriptor_argument(event)) {
      const auto found = made.find({event.process, event.arguments[*argument]});
      if (found != made.end()) uses_[i] = found->second;
    }
    const bool makes = is_call(event, Sys::memfd_create) || is_call(event, Sys::open);
    if (makes && !event.error) {
      made[{event.process, event.value}] = i;
      set_up_[i] = i;
    }
    if (is_call(event, Sys::close)) made.erase({event.process, event.arguments[0]});
    if (!uses_[i] || set_up_[i]) continue;
    const std::size_t maker = *uses_[i];
    if (is_call(event, Sys::ftruncate) && !used[maker] && !event.chosen) {
      set_up_[i] = maker;
      continue;
    }
    // An mmap, one access and a munmap of the same: pages are put into the page cache.
    const bool cached =
        is_call(event, Sys::mmap) && !event.error && has(static_cast<MapFlags>(event.arguments[3]), MapFlags::shared) &&
        i + 2 < events.size() && !event.chosen && !events[i + 1].chosen && !events[i + 2].chosen &&
        events[i + 1].statement != nullptr && std::holds_alternative<program::Access>(events[i + 1].statement->node) &&
        events[i + 1].arguments[0] == event.value && is_call(events[i + 2], Sys::munmap) &&
        events[i + 2].arguments[0] == event.value && events[i + 2].arguments[1] == event.arguments[1];
    if (cached) {
      for (std::size_t part = i; part < i + 3; ++part) set_up_[part] = maker;
      i += 2;
    } else {
      used[maker] = true;
    }
  }
}

}  // namespace faultline::exports
