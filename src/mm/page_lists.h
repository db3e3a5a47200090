#pragma once

#include "mm/mm.h"

/// Pages on their way to the kernel's LRU lists: they wait in batches, which hold a reference to each.
namespace faultline::mm {

/// A new page of the VMA waits for the lists until a batch of them has gathered (folio_add_lru_vma), or somebody needs
/// the lists to be true. One of a locked VMA waits with the locked ones (mlock_new_folio, 5.18 on).
void add_new_page(Mm& mm, const Vma& vma, FrameId page);
/// The same whatever maps it: pages of a cache (folio_add_lru).
void add_to_lru(Mm& mm, FrameId page);
/// A page that MADV_FREE has marked.
void add_to_lazyfree(Mm& mm, FrameId page);

/// Does the entry hold its page where its VMA is locked? One of a part of a large folio does not.
bool lockable(Mm& mm, Pte pte);
/// A page that is there becomes locked (mlock_folio). Up to 5.17 the lists follow at once.
void lock_page(Mm& mm, FrameId page);
/// A page is locked no more: munlock(2), or an entry of a locked VMA goes (munlock_folio).
void unlock_page(Mm& mm, FrameId page);

/// An entry ceases to map the page, which goes with its last one: now, or with the batch that it waits on.
void drop_mapping(Mm& mm, FrameId page, PageSize size = PageSize::base);

/// Empties every batch (lru_add_drain).
void drain_lru(Mm& mm);

}  // namespace faultline::mm
