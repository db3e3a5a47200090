// mlock(2) and munlock(2).
#include "mm/calls.h"
#include "mm/merge.h"

namespace faultline::mm {
namespace {

enum class Lock : std::uint8_t { set, clear };

/// The whole pages that a request touches; unlike other calls these round the start down.
Range whole_pages(Addr start, std::uint64_t length) {
  return Range::of(start.page_floor(), page_ceil(length + start.page_offset()));
}

Result<void> apply(Mm& mm, Range range, Lock lock) {
  if (range.end < range.start) return mm.refuse(EINVAL, Rule::bad_argument, Range::of(range.start, 0));
  mm.count(Counter::mmap_lock_write);
  for (Addr at = range.start; at < range.end;) {
    Vma* vma = mm.vmas.at(at);
    if (vma == nullptr) return mm.refuse(ENOMEM, Rule::hole, {at, range.end});
    visit_vma(mm);
    const VmFlags flags = lock == Lock::set ? vma->flags | VmFlags::locked : vma->flags & ~VmFlags::locked;
    if (flags != vma->flags) {
      const auto changed = modify_flags(mm, vma, range.intersect({at, vma->end}), flags);
      if (!changed) return std::unexpected(changed.error());
      vma = *changed;
    }
    at = vma->end;
  }
  return {};
}

}  // namespace

Result<void> do_mlock(Mm& mm, Addr start, std::uint64_t length) {
  const Range range = whole_pages(start, length);
  if (auto applied = apply(mm, range, Lock::set); !applied || range.empty()) return applied;
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

Result<void> do_munlock(Mm& mm, Addr start, std::uint64_t length) {
  return apply(mm, whole_pages(start, length), Lock::clear);
}

}  // namespace faultline::mm
