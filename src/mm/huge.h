#pragma once

#include "mm/fault.h"
#include "mm/mm.h"

/// Transparent huge pages: when one is mapped, split and collapsed (B.5, B.7, A.6).
namespace faultline::mm {

/// May the first touch of this page map a huge page (thp_vma_allowable_order)? The policy, the VMA's advice and its
/// bounds decide; that nothing is there yet is for the caller to know.
bool huge_page_allowed(const Mm& mm, const Vma& vma, Addr addr);
/// Resolves the first touch of a huge page's worth of addresses (do_huge_pmd_anonymous_page).
void fault_in_huge(Mm& mm, Vma& vma, Addr addr, arch::Report access, FaultOrigin origin);

/// Resolves a fault on a huge page (do_huge_pmd_wp_page). False when it was split instead, so that the fault goes on at
/// the page.
enum class HugeFault : std::uint8_t { done, split };
HugeFault resolve_huge(Mm& mm, Vma& vma, Addr addr, arch::Report access, FaultOrigin origin);

/// Reuse or copy a write-protected page that is part of a large folio (A.6)? One of the reuse_… or copy_… rules.
Rule large_write_protect_rule(const Mm& mm, Addr addr, Pte pte);

/// Splits the huge page that maps the address into PTEs; nothing where none does.
void split_huge(Mm& mm, Addr addr, Rule why = Rule::huge_split_boundary);
/// The same where the address lies inside a huge page, not at its start: a bound that it may not span.
void split_huge_at(Mm& mm, Addr bound);
inline void split_huge_ends(Mm& mm, Range range) {
  split_huge_at(mm, range.start);
  split_huge_at(mm, range.end);
}
/// Splits the large folio that the address maps (split_folio): its pages lead lives of their own from then on. Nothing
/// but entries holds it.
void split_folio(Mm& mm, Addr page);
/// Do others map the large folio, as far as this kernel can tell (LargeAdvice)? `at` is where `frame`, a page of it, is
/// mapped here.
bool mapped_shared(const Mm& mm, Addr at, FrameId frame);
/// Entries of this process that map the large folio; `at` is where one of them is.
std::uint32_t own_mappings(const Mm& mm, Addr at, FrameId head);

/// MADV_COLLAPSE over a range inside one VMA (D.7): EINVAL where there is nothing to collapse.
Result<void> collapse(Mm& mm, Vma& vma, Range range);

}  // namespace faultline::mm
