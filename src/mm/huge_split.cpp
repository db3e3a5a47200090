// Huge pages split into base pages: B.5, A.6.
#include "mm/huge.h"

namespace faultline::mm {

namespace {

/// The zero page takes the place of those frames of a split folio that hold only zeroes
/// (try_to_map_unused_to_zeropage).
void drop_zeroes(Mm& mm, FrameId head) {
  const Range everything{Addr{0}, mm.geometry().task_size};
  mm.table.update(everything, [&](Addr at, Pte pte) {
    const bool part = pte.present() && !pte.huge() && pte.frame().index - head.index < kHugePages;
    if (!part || !mm.frames().is_zero(pte.frame())) return pte;
    const Vma& vma = *mm.vmas.at(at);
    if (vma.is(VmFlags::locked)) return pte;
    mm.frames().unmap(pte.frame());
    mm.tlb.drop(Range::of(at, kPageSize));
    const std::uint64_t kept = pte.soft_dirty() ? Pte::kSoftDirty : 0;
    return Pte::make(kZeroFrame, protection_bits(mm.profile(), vma.flags) | kept);
  });
}

}  // namespace

void split_huge(Mm& mm, Addr addr, Rule why) {
  addr = huge_floor(addr);
  const Pte huge = mm.table.get(addr);
  if (!huge.huge()) return;
  const Range range = mapped_range(addr, huge);
  mm.count(Counter::huge_splits);
  mm.explain([&] { return Event{.kind = EventKind::huge, .range = range, .rule = why}; });
  if (huge.accessible()) flush_now(mm, addr, PageSize::huge);
  Pte first = huge.without(Pte::kHuge);
  if (huge.zero_page()) {
    first = first.without(Pte::kYoung | Pte::kSoftDirty);
  } else {
    const bool dropped = mm.profile().split_dirty == SplitDirty::dropped;
    // What is made dirty is made soft-dirty with it.
    if (huge.dirty()) first = dropped ? first.without(Pte::kDirty) : first.with(Pte::kSoftDirty);
    mm.frames().remap_as_base(huge.frame());
  }
  mm.table.split_huge(addr, first);
  mm.tlb.drop(range);
}

void split_huge_at(Mm& mm, Addr bound) {
  if (mm.table.has_huge() && huge_floor(bound) != bound) split_huge(mm, bound);
}

void split_folio(Mm& mm, Addr page) {
  const FrameId head = mm.frames().head(mm.table.get(page).frame());
  split_huge(mm, page);
  mm.frames().split_folio(head);
  if (mm.profile().split_zeroes != SplitZeroes::zero_page || mm.profile().zero_page == ZeroPage::forbidden) return;
  for (Mm* space : mm.system.spaces()) drop_zeroes(*space, head);
}

}  // namespace faultline::mm
