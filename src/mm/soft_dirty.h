#pragma once

#include "mm/mm.h"

/// Soft-dirty tracking (A.5): which pages were written to since clear_refs(4).
namespace faultline::mm {

/// Is a page of this mapping told apart by its entry? Not while the mapping counts as written to as a whole
/// (vma_soft_dirty_enabled).
inline bool tracks_soft_dirty(const Profile& profile, VmFlags flags) {
  return profile.soft_dirty == SoftDirty::present && !has(flags, VmFlags::soft_dirty);
}

/// Does shared memory that may be written to take a fault for the first write to each page (vma_wants_writenotify,
/// A.4)? No file here asks for it.
inline bool wants_write_notify(const Profile& profile, VmFlags flags) {
  return has(flags, VmFlags::uffd_wp) || tracks_soft_dirty(profile, flags);
}

/// A mapping that is new, or has grown by a call for new memory, counts as written to as a whole, all of it.
inline void mark_soft_dirty(const Profile& profile, Vma& vma) {
  if (profile.soft_dirty == SoftDirty::present) vma.flags |= VmFlags::soft_dirty;
}

/// What the page's soft-dirty bit in pagemap(5) is.
bool is_soft_dirty(const Profile& profile, const Vma& vma, Pte pte);

}  // namespace faultline::mm
