// madvise(2): D.7, C.4.
#include "mm/calls.h"
#include "mm/huge.h"
#include "mm/merge.h"
#include "mm/object.h"
#include "mm/over_holes.h"
#include "mm/page_lists.h"
#include "mm/seal.h"

namespace faultline::mm {
namespace {

bool known(const Profile& profile, Advice advice) {
  switch (advice) {
    case Advice::normal:
    case Advice::random:
    case Advice::sequential:
    case Advice::willneed:
    case Advice::dontneed:
    case Advice::free:
    case Advice::remove:
    case Advice::dontfork:
    case Advice::dofork:
    case Advice::mergeable:
    case Advice::unmergeable:
    case Advice::hugepage:
    case Advice::nohugepage:
    case Advice::dontdump:
    case Advice::dodump:
    case Advice::wipeonfork:
    case Advice::keeponfork:
    case Advice::cold:
    case Advice::pageout:
    case Advice::hwpoison:
    case Advice::soft_offline:
      return true;
    case Advice::populate_read:
    case Advice::populate_write:
      return has(profile.advice, AdviceSet::populate);
    case Advice::dontneed_locked:
      return has(profile.advice, AdviceSet::dontneed_locked);
    case Advice::collapse:
      return has(profile.advice, AdviceSet::collapse);
    case Advice::guard_install:
    case Advice::guard_remove:
      return profile.guards == Guards::present;
  }
  return false;
}

/// What the advice makes of a VMA's flags, or nothing when it changes pages instead.
std::optional<VmFlags> advised_flags(VmFlags flags, Advice advice) {
  switch (advice) {
    case Advice::normal:
      return flags & ~(VmFlags::rand_read | VmFlags::seq_read);
    case Advice::random:
      return (flags & ~VmFlags::seq_read) | VmFlags::rand_read;
    case Advice::sequential:
      return (flags & ~VmFlags::rand_read) | VmFlags::seq_read;
    case Advice::dontfork:
      return flags | VmFlags::dontcopy;
    case Advice::dofork:
      return flags & ~VmFlags::dontcopy;
    case Advice::wipeonfork:
      return flags | VmFlags::wipeonfork;
    case Advice::keeponfork:
      return flags & ~VmFlags::wipeonfork;
    case Advice::dontdump:
      return flags | VmFlags::dontdump;
    case Advice::dodump:
      return flags & ~VmFlags::dontdump;
    case Advice::mergeable:
      // Shared memory has nothing to merge; the advice is passed over.
      return has(flags, VmFlags::may_share) ? flags : flags | VmFlags::mergeable;
    case Advice::unmergeable:
      return flags & ~VmFlags::mergeable;
    case Advice::hugepage:
      return (flags & ~VmFlags::nohugepage) | VmFlags::hugepage;
    case Advice::nohugepage:
      return (flags & ~VmFlags::hugepage) | VmFlags::nohugepage;
    default:
      return std::nullopt;
  }
}

/// MADV_WILLNEED: the kernel looks whether anything is swapped out. Nothing is, but what was read in is to be on the
/// LRU lists, with all that waits for them.
void look_for_swapped(Mm& mm, const Vma& vma, Range part) {
  if (vma.object == nullptr) {
    mm.count(Counter::ptes_scanned, mm.table.update(part, [](Addr, Pte pte) { return pte; }));
  }
  drain_lru(mm);
}

/// Makes entries guards up to the first that `stop` tells to stop at, which is returned, or the end.
template <class Stop>
Addr make_guards(Mm& mm, Range part, Stop stop) {
  for (Addr at = part.start; at < part.end; at = at + kPageSize) {
    const Pte pte = mm.table.get(at);
    if (stop(pte)) return at;
    mm.count(pte.guard() ? Counter::guards_found : Counter::guards_made);
    if (!pte.guard()) set_pte(mm, at, Pte::guard_marker());
  }
  return part.end;
}

Result<void> install_guards(Mm& mm, Vma& vma, Range part, FlushBatch& flush) {
  if (vma.is(VmFlags::locked)) return mm.refuse(EINVAL, Rule::bad_argument, part);
  // So that fork copies the markers.
  const bool flags = mm.profile().guard_mark == GuardMark::flag;
  if (flags) vma.flags |= VmFlags::maybe_guard;
  if (!flags || vma.object == nullptr) prepare_anon_vma(mm, vma);
  // Where it meets a page, all of the range is zapped, and it begins again.
  if (make_guards(mm, part, [](Pte pte) { return !pte.none() && !pte.guard(); }) == part.end) return {};
  zap(mm, part, Guarding::keep, flush);
  make_guards(mm, part, [](Pte) { return false; });
  return {};
}

/// MADV_DONTNEED: the pages go, and where the kernel reclaims page tables, those that the range covers whole go too.
void discard(Mm& mm, Range part, FlushBatch& flush) {
  zap(mm, part, Guarding::keep, flush);
  if (mm.profile().table_reclaim == TableReclaim::unmap_only) return;
  const std::uint64_t before = mm.table.tables_freed();
  for (Addr at = huge_floor(part.start + (kHugeBytes - 1)); at + kHugeBytes <= part.end; at = at + kHugeBytes) {
    mm.table.free_empty_table(at);
  }
  mm.count(Counter::tables_freed, mm.table.tables_freed() - before);
}

void remove_guards(Mm& mm, Range part) {
  std::uint64_t changed = 0;
  mm.count(Counter::ptes_scanned, mm.table.update(part, [&](Addr, Pte pte) {
    if (!pte.guard()) return pte;
    ++changed;
    return Pte{};
  }));
  mm.count(Counter::ptes_changed, changed);
}

/// MADV_REMOVE: a hole in the object, for everybody who maps it.
Result<void> remove_pages(Mm& mm, const Vma& vma, Range part) {
  if (vma.is(VmFlags::locked) || vma.object == nullptr) return mm.refuse(EINVAL, Rule::bad_argument, part);
  const bool now = mm.profile().sealed_file == SealedFile::refuses_shared;
  if (!vma.is(VmFlags::shared) || !vma.is(now ? VmFlags::write : VmFlags::may_write))
    return mm.refuse(EACCES, Rule::file_permission, part);
  // The file's own locks come first: mmap_lock is given up meanwhile.
  mm.count(Counter::mmap_lock_read);
  if (has(vma.object->seals(), FileSeals::write | FileSeals::future_write)) {
    return mm.refuse(EPERM, Rule::file_permission, part);
  }
  const std::uint64_t first = vma.pgoff_at(part.start);
  punch_hole(mm, *vma.object, first, first + part.pages());
  return {};
}

/// They stop at the first page that cannot be had.
Result<void> populate_vma(Mm& mm, Vma& vma, Range part, Populate how) {
  const VmFlags need = how == Populate::write ? VmFlags::write : VmFlags::read;
  const DataAccess access = how == Populate::write ? DataAccess::write : DataAccess::read;
  if (!vma.is(need) || !pkey_permits(mm.pkru, vma, access)) return mm.refuse(EINVAL, Rule::vma_forbids, vma.range());
  if (!populate(mm, vma, part, how)) return mm.refuse(EFAULT, Rule::guard_region, vma.range());
  return {};
}

/// Applies the advice to one VMA's part of the range. Returns the VMA that now holds it.
Result<Vma*> advise_vma(Mm& mm, Vma* vma, Range part, Advice advice, FlushBatch& flush) {
  if (auto allowed = check_discard_in_loop(mm, *vma, advice); !allowed) return std::unexpected(allowed.error());
  if (const auto flags = advised_flags(vma->flags, advice)) {
    if (advice == Advice::wipeonfork && vma->object != nullptr) return mm.refuse(EINVAL, Rule::bad_argument, part);
    const bool keeps = advice == Advice::keeponfork || advice == Advice::dodump;
    if (keeps && vma->is(VmFlags::droppable)) return mm.refuse(EINVAL, Rule::bad_argument, part);
    if (*flags == vma->flags) return vma;
    auto changed = modify_flags(mm, vma, part, *flags);
    // A lack of kernel resources is temporary, says madvise.
    if (!changed && changed.error() == Errno{ENOMEM} && mm.profile().advice_limit == AdviceLimit::again) {
      return fail(EAGAIN);
    }
    return changed;
  }
  const bool locked = vma->is(VmFlags::locked);
  switch (advice) {
    case Advice::willneed:
      look_for_swapped(mm, *vma, part);
      return vma;
    case Advice::dontneed:
      if (locked) return mm.refuse(EINVAL, Rule::bad_argument, part);
      [[fallthrough]];
    case Advice::dontneed_locked:
      discard(mm, part, flush);
      break;
    case Advice::free:
      if (locked || vma->object != nullptr) return mm.refuse(EINVAL, Rule::bad_argument, part);
      age_pages(mm, part, Aging::free, flush);
      break;
    case Advice::cold:
    case Advice::pageout:
      if (locked) return mm.refuse(EINVAL, Rule::bad_argument, part);
      age_pages(mm, part, Aging::cold, flush);
      return vma;
    case Advice::collapse:
      if (auto done = collapse(mm, *vma, part); !done) return std::unexpected(done.error());
      return vma;
    case Advice::populate_read:
    case Advice::populate_write: {
      const Populate how = advice == Advice::populate_write ? Populate::write : Populate::read;
      if (auto done = populate_vma(mm, *vma, part, how); !done) return std::unexpected(done.error());
      return vma;
    }
    case Advice::remove:
      if (auto done = remove_pages(mm, *vma, part); !done) return std::unexpected(done.error());
      return vma;
    case Advice::guard_install:
      if (auto done = install_guards(mm, *vma, part, flush); !done) return std::unexpected(done.error());
      break;
    case Advice::guard_remove:
      remove_guards(mm, part);
      break;
    default:
      return mm.refuse(EINVAL, Rule::bad_argument, part);
  }
  if (mm.profile().advise_flush == AdviseFlush::per_vma) flush.perform();
  return vma;
}

/// MADV_POPULATE_READ and MADV_POPULATE_WRITE stop at the first hole.
Result<void> populate_range(Mm& mm, Range range, Populate how) {
  for (Addr at = range.start; at < range.end;) {
    Vma* vma = mm.vmas.at(at);
    if (vma == nullptr) return mm.refuse(ENOMEM, Rule::hole, {at, range.end});
    visit_vma(mm);
    if (auto done = populate_vma(mm, *vma, range.intersect({at, vma->end}), how); !done) return done;
    at = vma->end;
  }
  return {};
}

/// Which lock the call takes, per era.
void count_lock(Mm& mm, Range range, Advice advice) {
  if (advised_flags(VmFlags::none, advice)) return mm.count(Counter::mmap_lock_write);
  const bool page_advice = advice == Advice::dontneed || advice == Advice::dontneed_locked || advice == Advice::free ||
                           advice == Advice::guard_install || advice == Advice::guard_remove;
  const Vma* vma = mm.vmas.at(range.start);
  const bool single = vma != nullptr && vma->range().contains(range);
  const bool needs_anon_vma = advice == Advice::guard_install && single && vma->anon_vma == 0;
  const bool per_vma = mm.profile().advise_lock == AdviseLock::per_vma && page_advice && single && !needs_anon_vma;
  mm.count(per_vma ? Counter::vma_lock : Counter::mmap_lock_read);
}

/// Kernels that lock pages as populating comes upon them want each on a list: a new one goes there at once; one that
/// was not locked yet is taken off its list, and waits for that of the locked ones.
void hold_locked(Mm& mm, FrameId page) {
  Frame& frame = mm.frames().at(page);
  const bool fresh = frame.on_batch() == OnBatch::yes;
  drain_lru(mm);
  if (!fresh && frame.mlocked() == Mlocked::no && !mm.frames().is_large(page)) add_to_lru(mm, page);
  frame.set_mlocked(Mlocked::yes);
}

/// What populates touches each page as its user would, and holds it where the VMA is locked.
void touch_populated(Mm& mm, const Vma& vma, Addr at) {
  const Pte pte = mm.table.get(at);
  if (pte.zero_page()) return;
  Frame& frame = mm.frames().at(pte.frame());
  mm.count(Counter::pages_activated, frame.touch() ? 1 : 0);
  if (vma.is(VmFlags::locked) && mm.profile().mlock_pages == MlockPages::populated) hold_locked(mm, pte.frame());
}

/// Does the first write of a page that is still clean give mmap_lock up, so that MADV_POPULATE_WRITE has to try again
/// (6.9 on)?
bool gives_lock_up(Mm& mm, const Vma& vma, Addr at, Populate how) {
  const bool tries = mm.profile().populate_holes == PopulateHoles::refused;
  if (!tries || how != Populate::write || !vma.is(VmFlags::shared) || vma.object == nullptr) return false;
  const auto cached = vma.object->find(vma.pgoff_at(at));
  return !cached || !mm.frames().at(*cached).dirty();
}

}  // namespace

bool populate(Mm& mm, Vma& vma, Range range, Populate how) {
  const auto access = how == Populate::write ? arch::Report::write : arch::Report::read;
  for (Addr at = range.start; at < range.end; at = at + kPageSize) {
    const auto granted = [&] {
      const Pte pte = mm.table.get(at);
      return pte.present() && (how == Populate::read || pte.write());
    };
    if (granted()) {
      mm.count(Counter::pages_found);
      touch_populated(mm, vma, at);
      continue;
    }
    // What a userfaultfd protects while nothing is there takes two faults.
    auto origin = FaultOrigin::populate;
    do {
      const bool again = gives_lock_up(mm, vma, at, how);
      if (resolve(mm, vma, at, access, origin) != Handled::done) return false;
      if (again) origin = FaultOrigin::populate_again;
    } while (!granted());
    touch_populated(mm, vma, at);
  }
  if (mm.profile().lru_drain != LruDrain::unmapping) drain_lru(mm);
  return true;
}

bool populate_as_permitted(Mm& mm, Vma& vma, Range range) {
  const bool on_fault = vma.is(VmFlags::lock_on_fault);
  mm.vmas.sought(range.start);
  if (on_fault && mm.profile().mlock_pages == MlockPages::batched) return true;
  // Shared pages are never copied, and would be dirtied for nothing.
  const bool writes = vma.is(VmFlags::write) && !vma.is(VmFlags::shared);
  if (!vma.is(VmFlags::access)) return false;
  if (!pkey_permits(mm.pkru, vma, writes ? DataAccess::write : DataAccess::read)) return false;
  if (on_fault) return true;
  mm.vmas.sought(range.start);  // once more, by what faults the pages in
  return populate(mm, vma, range, writes ? Populate::write : Populate::read);
}

Result<void> do_madvise(Mm& mm, Addr start, std::uint64_t length, Advice advice) {
  const Range asked = Range::of(start, 0);
  if (!known(mm.profile(), advice)) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  if (!start.page_aligned()) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  const std::uint64_t bytes = page_ceil(length);
  if (length != 0 && bytes == 0) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  const Addr end = start + bytes;
  if (end < start) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  if (end == start) return {};
  if (advice == Advice::hwpoison || advice == Advice::soft_offline) {
    return mm.refuse(EPERM, Rule::bad_argument, asked);  // the model's process has no privileges
  }
  const Range range{start, end};
  count_lock(mm, range, advice);
  if (auto allowed = check_discard_upfront(mm, range, advice); !allowed) return allowed;
  if (mm.profile().populate_holes == PopulateHoles::refused) {
    if (advice == Advice::populate_read) return populate_range(mm, range, Populate::read);
    if (advice == Advice::populate_write) return populate_range(mm, range, Populate::write);
  }

  mm.vmas.sought(start, Lookup::with_previous);
  FlushBatch flush(mm);
  const auto holes = each_over_holes(mm, range, [&](Vma* vma, Range part) {
    visit_vma(mm);
    return advise_vma(mm, vma, part, advice, flush);
  });
  flush.perform();
  if (!holes) return std::unexpected(holes.error());
  if (*holes == Holes::some) return mm.refuse(ENOMEM, Rule::hole, range);
  return {};
}

}  // namespace faultline::mm
