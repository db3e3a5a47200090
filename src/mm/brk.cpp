// brk(2), the raw system call.
#include "mm/calls.h"
#include "mm/limits.h"
#include "mm/merge.h"
#include "mm/soft_dirty.h"
#include "mm/stack.h"

namespace faultline::mm {

Addr do_brk(Mm& mm, Addr requested) {
  mm.count(Counter::mmap_lock_write);
  if (requested < mm.brk_start || requested >= mm.geometry().task_size) return mm.brk;
  const Addr old_end{page_ceil(mm.brk.value)};
  const Addr new_end{page_ceil(requested.value)};
  if (new_end < old_end) {
    if (!unmap_range(mm, {new_end, old_end}, UnmapEnd::reading)) return mm.brk;
  } else if (new_end > old_end) {
    const Range grown{old_end, new_end};
    // A page is kept free behind the heap, and the gap below a stack.
    mm.vmas.sought(old_end);
    const Vma* next = mm.vmas.find(old_end);
    if (next != nullptr && new_end + kPageSize > start_with_gap(*next)) return mm.brk;
    if (mm.vmas.size() > mm.system.tunables().max_map_count) return mm.brk;
    const VmFlags flags = new_mapping_flags(Prot::read | Prot::write) | VmFlags::account | mm.locks_ahead;
    const std::uint64_t pages = grown.pages();
    const std::uint64_t heap_limit = mm.limits.of(Resource::data).soft;
    if (requested - mm.brk_start > heap_limit) return mm.brk;
    if (!lock_fits(mm, flags, pages) || !mm.limits.allow(mm.usage, flags, pages)) return mm.brk;
    if (!mm.system.commit().charge(pages, mm.usage.total)) return mm.brk;
    mm.vmas.sought_place(grown);
    Vma* vma = insert_merged(mm, {.range = grown, .flags = flags, .pgoff = grown.start.page()});
    mark_soft_dirty(mm.profile(), *vma);
    if (vma->is(VmFlags::locked)) populate_as_permitted(mm, *vma, grown);
  }
  return mm.brk = requested;
}

}  // namespace faultline::mm
