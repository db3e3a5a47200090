#include "mm/stack.h"

#include <algorithm>

#include "mm/limits.h"

namespace faultline::mm {
namespace {

/// Do the limits of the process, and the machine, allow a stack that many pages more (acct_stack_growth)?
Rule growth_rule(Mm& mm, const Vma& vma, Addr start) {
  const std::uint64_t pages = Range{start, vma.start}.pages();
  if (!mm.limits.allow(mm.usage, vma.flags, pages)) return Rule::resource_limit;
  if (Range{start, vma.end}.bytes() > mm.limits.of(Resource::stack).soft) return Rule::stack_limit;
  if (!lock_fits(mm, vma.flags, pages)) return Rule::resource_limit;
  if (vma.is(VmFlags::account) && !mm.system.commit().charge(pages, mm.usage.total)) return Rule::commit_limit;
  return Rule::stack_grown;
}

}  // namespace

std::expected<Vma*, Rule> grow_stack(Mm& mm, Addr addr) {
  Vma* vma = mm.vmas.find(addr);
  if (vma == nullptr || !vma->is(VmFlags::grows_down)) return std::unexpected(Rule::no_vma);
  const bool writing = mm.profile().stack_lock == StackLock::write;
  if (writing) mm.count(Counter::mmap_lock_write);
  const Addr start = addr.page_floor();
  if (start.value < mm.system.tunables().mmap_min_addr) return std::unexpected(Rule::no_vma);
  const Vma* below = mm.vmas.prev(*vma);
  const bool guarded = below != nullptr && below->is(VmFlags::access) && !below->is(VmFlags::grows_down);
  if (guarded && start - below->end < kStackGuardGap) return std::unexpected(Rule::stack_guard_gap);
  // It comes first, and stays where the limits then forbid the rest.
  prepare_anon_vma(mm, *vma);
  const std::uint64_t pages = Range{start, vma->start}.pages();
  if (pages > vma->pgoff) return std::unexpected(Rule::no_vma);
  if (const Rule rule = growth_rule(mm, *vma, start); rule != Rule::stack_grown) return std::unexpected(rule);
  mm.usage.add(vma->flags, pages);
  mm.vmas.set_start(vma, start);
  if (writing) mm.count(Counter::mmap_lock_downgrade);
  mm.explain([&] {
    return Event{.kind = EventKind::growth, .range = Range::of(start, pages * kPageSize), .rule = Rule::stack_grown};
  });
  return vma;
}

std::optional<Addr> highest_gap(const Mm& mm, std::uint64_t bytes) {
  if (mm.vmas.growing() == 0) return mm.vmas.highest_gap(bytes);
  const Range space = mm.placement_space();
  const Vma* above = mm.vmas.find(space.end);
  Addr top = above == nullptr ? space.end : std::min(space.end, start_with_gap(*above));
  const Vma* vma = above == nullptr ? mm.vmas.before(space.end) : mm.vmas.prev(*above);
  for (;; vma = mm.vmas.prev(*vma)) {
    const Addr bottom = vma == nullptr ? space.start : std::max(space.start, vma->end);
    if (top > bottom && top - bottom >= bytes) return top + (0 - bytes);
    if (vma == nullptr || bottom == space.start) return std::nullopt;
    top = std::min(top, start_with_gap(*vma));
  }
}

}  // namespace faultline::mm
