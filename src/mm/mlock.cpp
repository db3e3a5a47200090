// mlock(2), mlock2(2), munlock(2), mlockall(2) and munlockall(2).
#include "mm/calls.h"
#include "mm/limits.h"
#include "mm/merge.h"
#include "mm/page_lists.h"

namespace faultline::mm {
namespace {

constexpr VmFlags kLockFlags = VmFlags::locked | VmFlags::lock_on_fault;

/// The whole pages that a request touches; unlike other calls these round the start down.
Range whole_pages(Addr start, std::uint64_t length) {
  return Range::of(start.page_floor(), page_ceil(length + start.page_offset()));
}

/// Locks or unlocks what is there. Up to 5.17 populating does the locking, and this no more than look.
void lock_present(Mm& mm, const Vma& vma, Range part, VmFlags lock) {
  const bool locks = has(lock, VmFlags::locked);
  const bool batched = mm.profile().mlock_pages == MlockPages::batched;
  if (batched && locks && vma.is(VmFlags::locked)) return;
  drain_lru(mm);
  mm.count(Counter::ptes_scanned, mm.table.update(part, [&](Addr, Pte pte) {
    if (!pte.present() || !lockable(mm, pte)) return pte;
    if (!locks) {
      unlock_page(mm, pte.frame());
    } else if (batched) {
      lock_page(mm, pte.frame());
    } else {
      mm.count(Counter::pages_mlocked);
    }
    return pte;
  }));
  if (batched) drain_lru(mm);
}

/// Gives one VMA's part of the range these lock flags (mlock_fixup). Returns the VMA that now holds it.
Result<Vma*> fix_up(Mm& mm, Vma* vma, Range part, VmFlags lock) {
  visit_vma(mm);
  if (vma->is(VmFlags::droppable)) return vma;  // never locked, and no error
  const VmFlags flags = (vma->flags & ~kLockFlags) | lock;
  if (flags == vma->flags) return vma;
  lock_present(mm, *vma, part, lock);
  return modify_flags(mm, vma, part, flags);
}

Result<void> apply(Mm& mm, Range range, VmFlags lock) {
  if (range.end < range.start) return mm.refuse(EINVAL, Rule::bad_argument, Range::of(range.start, 0));
  mm.vmas.sought(range.start, Lookup::with_neighbour);
  for (Addr at = range.start; at < range.end;) {
    Vma* vma = mm.vmas.at(at);
    if (vma == nullptr) return mm.refuse(ENOMEM, Rule::hole, {at, range.end});
    const auto changed = fix_up(mm, vma, range.intersect({at, vma->end}), lock);
    if (!changed) return std::unexpected(changed.error());
    at = (*changed)->end;
  }
  return {};
}

/// Pages of the range that are locked already are not counted twice.
bool fits(const Mm& mm, Range range) {
  const std::uint64_t limit = mm.limits.of(Resource::memlock).soft >> kPageShift;
  const std::uint64_t wanted = mm.counted_as_locked() + (range.bytes() >> kPageShift);
  return wanted <= limit || wanted - mapped_pages(mm, range, VmFlags::locked) <= limit;
}

Result<void> lock(Mm& mm, Range range, VmFlags flags) {
  if (!may_lock(mm)) return mm.refuse(EPERM, Rule::resource_limit, range);
  mm.count(Counter::mmap_lock_write);
  if (!fits(mm, range)) return mm.refuse(ENOMEM, Rule::resource_limit, range);
  if (auto applied = apply(mm, range, flags); !applied || range.empty()) return applied;
  mm.count(Counter::mmap_lock_read);
  for (Addr at = range.start; at < range.end;) {
    Vma* vma = mm.vmas.at(at);
    const Range part = range.intersect({at, vma->end});
    // What forbids every access stays unpopulated, and that is ENOMEM, as a page that cannot be had is.
    if (!populate_as_permitted(mm, *vma, part)) return mm.refuse(ENOMEM, Rule::vma_forbids, part);
    at = vma->end;
  }
  return {};
}

/// Locks or unlocks every VMA; what cannot be split or merged is passed over.
void apply_to_all(Mm& mm, VmFlags lock) {
  for (Vma* vma = mm.vmas.find(Addr{0}); vma != nullptr;) {
    const auto changed = fix_up(mm, vma, vma->range(), lock);
    vma = mm.vmas.next(changed ? **changed : *vma);
  }
}

}  // namespace

Result<void> do_mlock(Mm& mm, Addr start, std::uint64_t length, LockFlags flags) {
  if (has(flags, ~LockFlags::onfault)) return mm.refuse(EINVAL, Rule::bad_argument, Range::of(start, 0));
  return lock(mm, whole_pages(start, length), has(flags, LockFlags::onfault) ? kLockFlags : VmFlags::locked);
}

Result<void> do_munlock(Mm& mm, Addr start, std::uint64_t length) {
  mm.count(Counter::mmap_lock_write);
  return apply(mm, whole_pages(start, length), VmFlags::none);
}

Result<void> do_mlockall(Mm& mm, LockAllFlags flags) {
  constexpr LockAllFlags kKnown = LockAllFlags::current | LockAllFlags::future | LockAllFlags::onfault;
  const bool now = has(flags, LockAllFlags::current);
  const bool later = has(flags, LockAllFlags::future);
  const Range everything{Addr{0}, mm.geometry().task_size};
  if (has(flags, ~kKnown) || (!now && !later)) return mm.refuse(EINVAL, Rule::bad_argument, everything);
  if (!may_lock(mm)) return mm.refuse(EPERM, Rule::resource_limit, everything);
  mm.count(Counter::mmap_lock_write);
  if (now && mm.usage.total > mm.limits.of(Resource::memlock).soft >> kPageShift) {
    return mm.refuse(ENOMEM, Rule::resource_limit, everything);
  }
  const VmFlags lock = has(flags, LockAllFlags::onfault) ? kLockFlags : VmFlags::locked;
  mm.locks_ahead = later ? lock : VmFlags::none;
  if (!now) return {};
  apply_to_all(mm, lock);
  mm.count(Counter::mmap_lock_read);
  // What cannot be populated is passed over.
  mm.vmas.each(everything, [&](Vma& vma) { populate_as_permitted(mm, vma, vma.range()); });
  return {};
}

void do_munlockall(Mm& mm) {
  mm.count(Counter::mmap_lock_write);
  mm.locks_ahead = VmFlags::none;
  apply_to_all(mm, VmFlags::none);
}

}  // namespace faultline::mm
