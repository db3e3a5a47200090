// Faults that map or meet a huge page: B.5, B.7, A.6.
#include "mm/huge.h"
#include "mm/upgrade.h"
#include "mm/userfault.h"

namespace faultline::mm {
namespace {

void map_huge(Mm& mm, const Vma& vma, Addr start, FrameId frame, std::uint64_t bits) {
  set_pte(mm, start, Pte::make(frame, protection_bits(mm.profile(), vma.flags) | Pte::kYoung | Pte::kHuge | bits));
  mm.count(Counter::huge_pages);
}

/// Maps a new huge page that this process owns alone.
void map_new(Mm& mm, const Vma& vma, Addr start) {
  const FrameId head = mm.frames().allocate_huge();
  mm.count(Counter::pages_zeroed, kHugePages);
  mm.frames().map_new(head, PageSize::huge);
  mm.frames().at(head).set_exclusive(Exclusive::yes);
  map_huge(mm, vma, start, head, vma.is(VmFlags::write) ? Pte::kWrite | Pte::kWritten : Pte::kWritten);
}

}  // namespace

bool huge_page_allowed(const Mm& mm, const Vma& vma, Addr addr) {
  if (vma.object != nullptr) return false;  // shmem_enabled is "never", the kernel's default
  switch (mm.profile().thp) {
    case Thp::never:
      return false;
    case Thp::madvise:
      if (!vma.is(VmFlags::hugepage)) return false;
      break;
    case Thp::always:
      if (vma.is(VmFlags::nohugepage)) return false;
      break;
  }
  return vma.range().contains(Range::of(huge_floor(addr), kHugeBytes));
}

void fault_in_huge(Mm& mm, Vma& vma, Addr addr, arch::Report access, FaultOrigin origin) {
  const bool write = access == arch::Report::write;
  const Range page = Range::of(huge_floor(addr), kHugeBytes);
  prepare_anon_vma(mm, vma);
  if (!write && mm.profile().zero_page == ZeroPage::shared) {
    map_huge(mm, vma, page.start, kZeroFrame, 0);
    count_handled(mm, page, Counter::fault_read, Rule::huge_zero_for_read, origin);
    return;
  }
  map_new(mm, vma, page.start);
  if (write) {
    count_handled(mm, page, Counter::fault_write, Rule::huge_page_for_write, origin);
  } else {
    count_handled(mm, page, Counter::fault_read, Rule::huge_page_for_read, origin);
  }
}

HugeFault resolve_huge(Mm& mm, Vma& vma, Addr addr, arch::Report access, FaultOrigin origin) {
  const Range page = Range::of(huge_floor(addr), kHugeBytes);
  const Pte pte = mm.table.get(page.start);
  if (access == arch::Report::write && is_uffd_protected(vma, pte)) {
    split_huge(mm, addr, Rule::huge_split_uffd);
    return HugeFault::split;
  }
  if (access != arch::Report::write || pte.write()) {
    count_handled(mm, page, Counter::fault_spurious, Rule::spurious, origin);
    return HugeFault::done;
  }
  if (pte.zero_page()) {
    if (mm.profile().huge_zero == HugeZero::split) {
      split_huge(mm, addr, Rule::huge_split_zero);
      return HugeFault::split;
    }
    if (pte.accessible()) flush_now(mm, page.start, PageSize::huge);
    map_new(mm, vma, page.start);
    count_handled(mm, page, Counter::fault_copy, Rule::huge_page_over_zero, origin);
    return HugeFault::done;
  }
  const Rule rule = write_protect_rule(mm.profile().wp_reuse, pte, mm.frames());
  if (!reuses(rule)) {
    split_huge(mm, addr, Rule::huge_split_shared);
    return HugeFault::split;
  }
  mm.frames().at(pte.frame()).set_exclusive(Exclusive::yes);
  set_pte(mm, page.start, pte.with(Pte::kWrite | Pte::kWritten | Pte::kYoung));
  count_handled(mm, page, Counter::fault_reuse, rule, origin);
  return HugeFault::done;
}

Rule large_write_protect_rule(const Mm& mm, Addr addr, Pte pte) {
  const FramePool& frames = mm.system.frames();
  const Rule rule = write_protect_rule(mm.profile().wp_reuse, pte, frames);
  if (mm.profile().wp_reuse == WpReuse::page_count || rule == Rule::reuse_exclusive) return rule;
  const std::uint32_t references = frames.references(pte.frame());
  switch (mm.profile().large_reuse) {
    case LargeReuse::single_reference:
      return rule;
    case LargeReuse::never:
      return Rule::copy_large;
    case LargeReuse::all_mine:
      return references > 1 && own_mappings(mm, addr, frames.head(pte.frame())) == references ? Rule::reuse_all_mine
                                                                                              : Rule::copy_large;
  }
  return Rule::copy_large;
}

}  // namespace faultline::mm
