// MADV_COLLAPSE: D.7.
#include <vector>

#include "mm/huge.h"
#include "mm/page_lists.h"

namespace faultline::mm {
namespace {

/// Why a huge page's worth of addresses is not collapsed, or that it is.
enum class Scan : std::uint8_t { huge_already, collapsible, no_table, ends };

Scan scan(const Mm& mm, Range range) {
  if (mm.table.get(range.start).huge()) return Scan::huge_already;
  if (!mm.table.has_table(range.start)) {
    const bool passed_over =
        mm.profile().collapse_holes == CollapseHoles::passed_over || !mm.table.has_pmd_table(range.start);
    return passed_over ? Scan::no_table : Scan::ends;
  }
  bool writable = false;
  bool guarded = false;
  mm.table.each(range, [&](Range, Pte pte) {
    writable |= pte.write();
    guarded |= pte.guard() || pte.uffd_wp();
  });
  if (guarded) return Scan::ends;
  return writable || mm.profile().collapse != Collapse::writable ? Scan::collapsible : Scan::ends;
}

/// Copies what is there into a new huge page and maps it (collapse_huge_page).
void collapse_one(Mm& mm, const Vma& vma, Range range) {
  const FrameId head = mm.frames().allocate_huge();
  std::uint64_t copied = 0;
  mm.count(Counter::mmap_lock_write);
  mm.table.update(range, [&](Addr at, Pte pte) {
    if (pte.present() && !pte.zero_page()) {
      mm.frames().copy_content({head.index + static_cast<std::uint32_t>((at - range.start) >> kPageShift)},
                               pte.frame());
      ++copied;
    }
    if (pte.present() && !pte.zero_page()) {
      if (vma.is(VmFlags::locked) && lockable(mm, pte)) unlock_page(mm, pte.frame());
      drop_mapping(mm, pte.frame());
    }
    return Pte{};
  });
  mm.count(Counter::pages_copied, copied);
  mm.count(Counter::pages_zeroed, kHugePages - copied);
  flush_now(mm, range.start, PageSize::huge);
  mm.frames().map_new(head, PageSize::huge);
  mm.frames().at(head).set_exclusive(Exclusive::yes);
  const std::uint64_t write = vma.is(VmFlags::write) ? Pte::kWrite : 0;
  mm.table.collapse(range.start, Pte::make(head, protection_bits(mm.profile(), vma.flags) | Pte::kYoung |
                                                     Pte::kWritten | Pte::kHuge | write));
  mm.tlb.drop(range);
  mm.count(Counter::huge_pages);
  mm.explain([&] { return Event{.kind = EventKind::huge, .range = range, .rule = Rule::huge_collapsed}; });
}

/// The huge pages' worth of addresses that lie whole in a range.
Range aligned_part(Range range) { return {huge_floor(range.start + (kHugeBytes - 1)), huge_floor(range.end)}; }

}  // namespace

Result<void> collapse(Mm& mm, Vma& vma, Range range) {
  const auto refuse = [&] { return mm.refuse(EINVAL, Rule::bad_argument, range); };
  const Range of_vma = aligned_part(vma.range());
  // What was never faulted in has no anon_vma, and nothing to collapse.
  const bool unfit = vma.object != nullptr || vma.anon_vma == 0 || vma.is(VmFlags::nohugepage);
  if (unfit || of_vma.end <= of_vma.start) return refuse();
  drain_lru(mm);
  const Range aligned = aligned_part(range);
  if (aligned.end < aligned.start) {
    return mm.profile().collapse == Collapse::any_range ? Result<void>() : refuse();
  }
  bool all = true;
  for (Addr at = aligned.start; at < aligned.end; at = at + kHugeBytes) {
    const Range one = Range::of(at, kHugeBytes);
    switch (scan(mm, one)) {
      case Scan::huge_already:
        break;
      case Scan::collapsible:
        collapse_one(mm, vma, one);
        break;
      case Scan::no_table:  // the others may still be collapsed
        all = false;
        break;
      case Scan::ends:
        return refuse();
    }
  }
  return all ? Result<void>() : refuse();
}

}  // namespace faultline::mm
