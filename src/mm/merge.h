#pragma once

#include <cstdint>

#include "base/errno.h"
#include "mm/mm.h"

/// Splitting and merging VMAs (D.1, D.2).
namespace faultline::mm {

/// A range with the attributes that it is to have; what a neighbour must agree with to merge.
struct Proposal {
  Range range;
  VmFlags flags = VmFlags::none;
  std::uint64_t pgoff = 0;
  AnonVma anon_vma = 0;
  AnonVmaChain chain = 0;
  Shmem* object = nullptr;
  UffdId uffd = 0;
  VmaName name = kUnnamed;

  /// What a VMA proposes to its neighbours.
  static Proposal of(const Vma& vma) {
    return {vma.range(), vma.flags, vma.pgoff, vma.anon_vma, vma.chain, vma.object, vma.uffd, vma.name};
  }
};

/// Rule::merged when the adjacent VMA and the proposal may become one, else the attribute that keeps them apart.
Rule mergeable_with_prev(const Profile& profile, const Vma& prev, const Proposal& proposal);
Rule mergeable_with_next(const Profile& profile, const Vma& next, const Proposal& proposal);

/// Why two VMAs, `low` below `high`, are not one: the attribute that keeps them apart. Rule::merged where nothing does:
/// they have become alike, but no call has looked at both since.
Rule why_apart(const Profile& profile, const Vma& low, const Vma& high);

/// May `low` and `high`, in this order of address, use the anon_vma of `owner`, which is one of them
/// (reusable_anon_vma)?
bool can_share_anon_vma(const Vma& low, const Vma& high, const Vma& owner);

/// Adds a new mapping, merged with its neighbours where they allow it. The range is free. Returns the VMA that holds
/// it.
Vma* insert_merged(Mm& mm, const Proposal& proposal);
/// The same as mmap does it (MmapMerge).
Vma* insert_mapped(Mm& mm, const Proposal& proposal);
/// The same, but never with `apart`.
Vma* insert_merged_apart(Mm& mm, const Proposal& proposal, const Vma* apart);
/// Adds it as a VMA of its own.
Vma* insert_alone(Mm& mm, const Proposal& proposal);

/// Grows a VMA upward over free addresses (mremap in place). Merges with the next one where the kernel of that time
/// does.
enum class Extension : std::uint8_t { alone, merging };
Vma* extend(Mm& mm, Vma* vma, std::uint64_t bytes, Extension extension);

/// Gives [start, end), which lies inside `vma`, new flags: merges the part with a neighbour when it touches that end of
/// `vma`, else splits start, then end. ENOMEM at max_map_count; a split already made stays. Returns the VMA that now
/// holds the part.
Result<Vma*> modify_flags(Mm& mm, Vma* vma, Range part, VmFlags flags);

/// The same with another userfaultfd that watches the part, or none.
Result<Vma*> modify_watch(Mm& mm, Vma* vma, Range part, VmFlags flags, UffdId uffd);
/// The same with another name, and the flags that it has.
Result<Vma*> modify_name(Mm& mm, Vma* vma, Range part, VmaName name);

/// Cuts a VMA at an address inside it and returns the upper part; `made` is the one that the kernel makes. ENOMEM at
/// max_map_count.
Result<Vma*> split_vma(Mm& mm, Vma* vma, Addr at, NewPart made);
/// The same where the caller has looked at the limit (munmap).
Vma* split_unchecked(Mm& mm, Vma* vma, Addr at, NewPart made);

}  // namespace faultline::mm
