#include "mm/numa_hint.h"

#include "mm/upgrade.h"

namespace faultline::mm {
namespace {

/// Is the page passed over, as others may use it from elsewhere (A.8)?
bool passed_over(const Mm& mm, const Vma& vma, Pte pte) {
  if (!pte.present() || !pte.accessible() || pte.zero_page()) return true;
  if (vma.is(VmFlags::shared)) return false;
  const FramePool& frames = mm.system.frames();
  switch (mm.profile().numa_pass) {
    case NumaPass::single_reference:
      return frames.references(pte.frame()) != 1;
    case NumaPass::mapped_once:
      return frames.pinned(pte.frame()) || frames.at(pte.frame()).mappings() > 1;
  }
  return false;
}

}  // namespace

void resolve_numa_hint(Mm& mm, const Vma& vma, Addr addr, Pte pte, FaultOrigin origin) {
  const Range mapped = mapped_range(pte.huge() ? huge_floor(addr) : addr, pte);
  Pte after = pte.with_protection(protection_bits(mm.profile(), vma.flags)).with(Pte::kYoung);
  bool writable = after.write();
  if (mm.profile().numa_pass == NumaPass::single_reference) {
    writable = writable || pte.has(Pte::kSavedWrite);
  } else if (may_upgrade(vma)) {
    writable = upgrades(upgrade_rule(mm.profile(), vma, after, mm.system.frames()));
  }
  if (writable) after = after.with(Pte::kWrite);
  set_pte(mm, mapped.start, after);
  count_handled(mm, mapped, Counter::fault_numa, writable ? Rule::numa_hint_writable : Rule::numa_hint, origin);
}

void do_numa_pass(Mm& mm, Range range) {
  mm.has_numa_hints = true;
  mm.count(Counter::mmap_lock_read);
  FlushBatch flush(mm);
  mm.vmas.each(range, [&](Vma& vma) {
    visit_vma(mm);
    if (!vma.is(VmFlags::access)) return;
    const Range part = range.intersect(vma.range());
    mm.tlb.drop(part);
    std::uint64_t changed = 0;
    const std::uint64_t scanned = mm.table.update(part, [&](Addr at, Pte pte) {
      if (passed_over(mm, vma, pte)) return pte;
      ++changed;
      flush.add(mapped_range(at, pte), pte.size());
      const bool saves = pte.write() && mm.profile().numa_pass == NumaPass::single_reference;
      return pte.with_protection(saves ? Pte::kSavedWrite : 0);
    });
    mm.count(Counter::ptes_scanned, scanned);
    mm.count(Counter::ptes_changed, changed);
    flush.end_vma();
  });
  flush.perform();
}

}  // namespace faultline::mm
