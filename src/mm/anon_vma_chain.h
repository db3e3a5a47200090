#pragma once

#include "mm/mm.h"

/// What it takes to find a page's mappings again: for each anon_vma that a VMA's pages may belong to, the kernel has a
/// link (anon_vma_chain) that stands in a tree of all VMAs of that anon_vma, in order of the pages that they map.
namespace faultline::mm {

/// What becomes of all links of a VMA.
enum class Links : std::uint8_t {
  made,   // for a VMA that is copied from this one (anon_vma_clone)
  moved,  // out of their trees and in again, as the VMA's bounds change
  freed,  // the VMA goes (unlink_anon_vmas)
};

/// Counts it, with the link to the VMA's file if it has one, and the levels of the trees that are passed. Levels are
/// those of a balanced tree of the VMAs that lie beside this one and have its anon_vma; only counted where the tree of
/// VMAs is followed too.
void count_links(Mm& mm, const Vma& vma, Links links);

}  // namespace faultline::mm
