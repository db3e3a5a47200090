// msync(2): these files write nothing back, so only its refusals are left.
#include "mm/calls.h"

namespace faultline::mm {

Result<void> do_msync(Mm& mm, Addr start, std::uint64_t length, SyncFlags flags) {
  const Range asked = Range::of(start, 0);
  constexpr SyncFlags kKnown = SyncFlags::async | SyncFlags::invalidate | SyncFlags::sync;
  constexpr SyncFlags kBoth = SyncFlags::async | SyncFlags::sync;
  if (has(flags, ~kKnown) || !start.page_aligned() || (flags & kBoth) == kBoth) {
    return mm.refuse(EINVAL, Rule::bad_argument, asked);
  }
  const Addr end = start + page_ceil(length);
  if (end < start) return mm.refuse(ENOMEM, Rule::bad_argument, asked);
  if (end == start) return {};
  mm.count(Counter::mmap_lock_read);
  mm.vmas.sought(start);
  bool holes = false;
  for (Addr at = start; at < end;) {
    const Vma* vma = mm.vmas.find(at);
    const bool hole = vma == nullptr || vma->start > at;
    holes |= hole;
    // MS_ASYNC has nothing to do, and stops at the first hole.
    if (hole && (vma == nullptr || vma->start >= end || flags == SyncFlags::async)) break;
    visit_vma(mm);
    if (has(flags, SyncFlags::invalidate) && vma->is(VmFlags::locked)) {
      return mm.refuse(EBUSY, Rule::bad_argument, vma->range());
    }
    at = vma->end;
  }
  if (holes) return mm.refuse(ENOMEM, Rule::hole, {start, end});
  return {};
}

}  // namespace faultline::mm
