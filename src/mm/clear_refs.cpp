// Writing to /proc/self/clear_refs: A.5, proc_pid_clear_refs(5).
#include "mm/calls.h"
#include "mm/soft_dirty.h"

namespace faultline::mm {
namespace {

/// Which mappings' pages a number is about.
bool concerns(ClearRefs what, const Vma& vma) {
  switch (what) {
    case ClearRefs::anonymous:
      return vma.object == nullptr;
    case ClearRefs::mapped:
      return vma.object != nullptr;
    default:
      return true;
  }
}

}  // namespace

bool is_soft_dirty(const Profile& profile, const Vma& vma, Pte pte) {
  if (profile.soft_dirty == SoftDirty::absent) return false;
  return vma.is(VmFlags::soft_dirty) || pte.soft_dirty();
}

Result<void> do_clear_refs(Mm& mm, ClearRefs what) {
  const Range everything{Addr{0}, mm.geometry().task_size};
  if (what < ClearRefs::all || what > ClearRefs::peak) return mm.refuse(EINVAL, Rule::bad_argument, everything);
  mm.count(Counter::mmap_lock_write);
  if (what == ClearRefs::peak) return {};
  const bool soft_dirty = what == ClearRefs::soft_dirty;
  const bool clears = soft_dirty && mm.profile().soft_dirty == SoftDirty::present;
  if (clears) mm.vmas.each(everything, [](Vma& vma) { vma.flags &= ~VmFlags::soft_dirty; });
  mm.tlb.clear();
  std::uint64_t changed = 0;
  mm.vmas.each(everything, [&](const Vma& vma) {
    visit_vma(mm);
    if (!concerns(what, vma)) return;
    mm.count(Counter::ptes_scanned, mm.table.update(vma.range(), [&](Addr, Pte pte) {
      if (soft_dirty && !clears) return pte;
      if (!pte.present()) return soft_dirty ? pte.without(Pte::kSoftDirty) : pte;
      ++changed;
      return soft_dirty ? pte.without(Pte::kWrite | Pte::kSoftDirty) : pte.without(Pte::kYoung);
    }));
  });
  mm.count(Counter::ptes_changed, changed);
  if (!soft_dirty) return {};
  mm.count(Counter::flushes_full);
  mm.explain([&] { return Event{.kind = EventKind::flush, .range = everything, .counter = Counter::flushes_full}; });
  return {};
}

}  // namespace faultline::mm
