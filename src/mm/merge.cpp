#include "mm/merge.h"

#include "mm/anon_vma_chain.h"
#include "mm/huge.h"
#include "mm/soft_dirty.h"

namespace faultline::mm {
namespace {

enum class Side : std::uint8_t { prev, next };

/// Flags that keep nothing apart, and that what merges has if either side had them (VM_STICKY).
constexpr VmFlags kSticky = VmFlags::maybe_guard;
/// Flags that keep nothing apart.
constexpr VmFlags kPassedOver = kSticky | VmFlags::soft_dirty;

VmFlags sticky_flags(const Profile& profile) {
  return profile.soft_dirty_merge == SoftDirtyMerge::sticky ? kPassedOver : kSticky;
}

/// May the anon_vmas of an existing neighbour and of a proposal become one?
bool anon_vmas_merge(Merge merge, const Vma& existing, const Proposal& proposal) {
  if (existing.anon_vma == proposal.anon_vma) return true;
  if (existing.anon_vma != 0 && proposal.anon_vma != 0) return false;
  switch (merge) {
    case Merge::faulted_neighbour:
      // The kernel looks at the neighbour's chain only, which is empty when the neighbour is the unfaulted one.
      return existing.chain == 1;
    case Merge::either_faulted:
      return (existing.anon_vma != 0 ? existing.chain : proposal.chain) == 1;
  }
  return false;
}

Rule mergeable(const Profile& profile, const Vma& existing, const Proposal& proposal, Side side) {
  const bool adjacent =
      side == Side::prev ? existing.end == proposal.range.start : proposal.range.end == existing.start;
  if (!adjacent) return Rule::no_merge_gap;
  if (has(existing.flags ^ proposal.flags, ~kPassedOver)) return Rule::no_merge_flags;
  if (existing.object != proposal.object) return Rule::no_merge_file;
  if (existing.uffd != proposal.uffd) return Rule::no_merge_uffd;
  if (existing.name != proposal.name) return Rule::no_merge_name;
  const bool contiguous = side == Side::prev ? existing.pgoff + existing.pages() == proposal.pgoff
                                             : proposal.pgoff + proposal.range.pages() == existing.pgoff;
  if (!contiguous) return Rule::no_merge_offset;
  return anon_vmas_merge(profile.merge, existing, proposal) ? Rule::merged : Rule::no_merge_anon_vma;
}

/// The two neighbours of a range that would join both must also agree with each other.
bool neighbours_agree(const Vma& prev, const Vma& next) {
  return prev.anon_vma == 0 || next.anon_vma == 0 || prev.anon_vma == next.anon_vma;
}

/// What a VMA takes over from what it merges with.
void adopt(const Profile& profile, Vma& vma, VmFlags flags, AnonVma anon_vma, AnonVmaChain chain) {
  vma.flags |= flags & sticky_flags(profile);
  if (vma.anon_vma == 0 && anon_vma != 0) {
    vma.anon_vma = anon_vma;
    vma.chain = chain;
  }
}

void tell_merge(Mm& mm, Range range, Rule rule, VmFlags differing = VmFlags::none) {
  mm.explain([&] { return Event{.kind = EventKind::merge, .range = range, .rule = rule, .differing = differing}; });
}

/// Tells why a neighbour stays apart; one that is not adjacent is none.
void tell_apart(Mm& mm, const Vma& neighbour, const Proposal& proposal, Rule rule) {
  if (rule != Rule::merged && rule != Rule::no_merge_gap) {
    tell_merge(mm, neighbour.range(), rule, neighbour.flags ^ proposal.flags);
  }
}

struct Neighbours {
  Vma* prev = nullptr;  // set only when it merges
  Vma* next = nullptr;
};

/// Which of the candidate neighbours merge with the proposal.
Neighbours joining(Mm& mm, Vma* prev, Vma* next, const Proposal& proposal) {
  Neighbours result;
  if (prev != nullptr) {
    const Rule rule = mergeable_with_prev(mm.profile(), *prev, proposal);
    if (rule == Rule::merged) result.prev = prev;
    tell_apart(mm, *prev, proposal, rule);
  }
  if (next != nullptr) {
    Rule rule = mergeable_with_next(mm.profile(), *next, proposal);
    if (rule == Rule::merged && result.prev != nullptr && !neighbours_agree(*result.prev, *next)) {
      rule = Rule::no_merge_anon_vma;
    }
    if (rule == Rule::merged) result.next = next;
    tell_apart(mm, *next, proposal, rule);
  }
  return result;
}

void absorb_next(Mm& mm, Vma* vma, Vma* next) {
  count_links(mm, *vma, Links::moved);
  count_links(mm, *next, Links::freed);
  mm.vmas.absorb_next(vma, next);
  mm.count(Counter::vmas_freed);
}

void count_merge(Mm& mm, const Vma& merged, std::uint64_t joins) {
  mm.vmas.end_merge();
  mm.count(Counter::merges, joins);
  tell_merge(mm, merged.range(), Rule::merged);
}

}  // namespace

Rule mergeable_with_prev(const Profile& profile, const Vma& prev, const Proposal& proposal) {
  return mergeable(profile, prev, proposal, Side::prev);
}

Rule mergeable_with_next(const Profile& profile, const Vma& next, const Proposal& proposal) {
  return mergeable(profile, next, proposal, Side::next);
}

Rule why_apart(const Profile& profile, const Vma& low, const Vma& high) {
  return mergeable_with_prev(profile, low, Proposal::of(high));
}

bool can_share_anon_vma(const Vma& low, const Vma& high, const Vma& owner) {
  // The areas may differ in protection only: mprotect may yet make them equal.
  return low.end == high.start && low.object == high.object &&
         !has(low.flags ^ high.flags, ~(VmFlags::access | kPassedOver)) && low.pgoff + low.pages() == high.pgoff &&
         owner.anon_vma != 0 && owner.chain == 1;
}

namespace {

/// Adds a new mapping to the neighbours that it merges with.
Vma* insert(Mm& mm, const Proposal& proposal, Neighbours neighbours) {
  const auto [prev, next] = neighbours;
  if (prev == nullptr && next == nullptr) return insert_alone(mm, proposal);
  mm.usage.add(proposal.flags, proposal.range.pages());
  mm.count(Counter::bounds_moved);
  if (prev == nullptr) {
    count_links(mm, *next, Links::moved);
    mm.vmas.set_start(next, proposal.range.start);
    adopt(mm.profile(), *next, proposal.flags, proposal.anon_vma, proposal.chain);
    count_merge(mm, *next, 1);
    return next;
  }
  mm.vmas.set_end(prev, proposal.range.end);
  adopt(mm.profile(), *prev, proposal.flags, proposal.anon_vma, proposal.chain);
  if (next != nullptr) {
    adopt(mm.profile(), *prev, next->flags, next->anon_vma, next->chain);
    absorb_next(mm, prev, next);
  } else {
    count_links(mm, *prev, Links::moved);
  }
  count_merge(mm, *prev, next != nullptr ? 2 : 1);
  return prev;
}

}  // namespace

Vma* insert_alone(Mm& mm, const Proposal& proposal) {
  mm.usage.add(proposal.flags, proposal.range.pages());
  mm.count(Counter::vmas_made);
  Vma* const made = mm.vmas.insert(Vma{.start = proposal.range.start,
                                       .end = proposal.range.end,
                                       .flags = proposal.flags,
                                       .pgoff = proposal.pgoff,
                                       .anon_vma = proposal.anon_vma,
                                       .chain = proposal.chain,
                                       .name = proposal.name,
                                       .uffd = proposal.uffd,
                                       .object = proposal.object});
  count_links(mm, *made, Links::made);
  return made;
}

Vma* insert_merged_apart(Mm& mm, const Proposal& proposal, const Vma* apart) {
  const auto unless_apart = [&](Vma* neighbour) { return neighbour == apart ? nullptr : neighbour; };
  return insert(mm, proposal,
                joining(mm, unless_apart(mm.vmas.before(proposal.range.start)),
                        unless_apart(mm.vmas.find(proposal.range.start)), proposal));
}

Vma* insert_merged(Mm& mm, const Proposal& proposal) { return insert_merged_apart(mm, proposal, nullptr); }

Vma* insert_mapped(Mm& mm, const Proposal& proposal) {
  if (mm.profile().mmap_merge == MmapMerge::prev_first) return insert_merged(mm, proposal);
  Neighbours joined = joining(mm, nullptr, mm.vmas.find(proposal.range.start), proposal);
  Proposal with_next = proposal;
  if (joined.next != nullptr) {
    with_next.anon_vma = joined.next->anon_vma;
    with_next.chain = joined.next->chain;
  }
  joined.prev = joining(mm, mm.vmas.before(proposal.range.start), nullptr, with_next).prev;
  return insert(mm, proposal, joined);
}

Vma* extend(Mm& mm, Vma* vma, std::uint64_t bytes, Extension extension) {
  const Proposal proposal{Range::of(vma->end, bytes),
                          vma->flags,
                          vma->pgoff_at(vma->end),
                          vma->anon_vma,
                          vma->chain,
                          vma->object,
                          vma->uffd,
                          vma->name};
  Vma* next = mm.vmas.next(*vma);
  count_links(mm, *vma, Links::moved);
  mm.vmas.set_end(vma, proposal.range.end);
  mm.count(Counter::bounds_moved);
  mm.usage.add(vma->flags, proposal.range.pages());
  if (extension == Extension::alone || next == nullptr) return vma;
  const Rule rule = mergeable_with_next(mm.profile(), *next, proposal);
  if (rule == Rule::merged) {
    adopt(mm.profile(), *vma, next->flags, next->anon_vma, next->chain);
    absorb_next(mm, vma, next);
    count_merge(mm, *vma, 1);
  } else {
    tell_apart(mm, *next, proposal, rule);
  }
  return vma;
}

namespace {

/// May the end of a mapping merge with what follows? Up to 6.3 requests to a userfaultfd compare with the offset of the
/// mapping's begin, and such a part stays apart.
enum class Tail : std::uint8_t { merges, stays_apart };

/// modify_flags() but for the usage and for what the kernel then makes of VM_SOFTDIRTY.
Result<Vma*> merge_or_split(Mm& mm, Vma* vma, Range part, VmFlags flags, UffdId uffd, VmaName name, Tail tail) {
  const bool touches_start = part.start == vma->start;
  const bool touches_end = part.end == vma->end;
  if (!touches_start && !touches_end) tell_merge(mm, part, Rule::no_merge_middle);
  Vma* const below = touches_start ? mm.vmas.prev(*vma) : nullptr;
  Vma* const above = touches_end && (touches_start || tail == Tail::merges) ? mm.vmas.next(*vma) : nullptr;
  Neighbours joined;
  if (below != nullptr || above != nullptr) {
    joined = joining(mm, below, above,
                     {part, flags, vma->pgoff_at(part.start), vma->anon_vma, vma->chain, vma->object, uffd, name});
  }
  const auto [prev, next] = joined;
  if (prev != nullptr) {
    adopt(mm.profile(), *prev, vma->flags, vma->anon_vma, vma->chain);
    mm.count(Counter::bounds_moved);
    if (!touches_end) {
      split_huge_at(mm, part.end);
      count_links(mm, *prev, Links::moved);
      count_links(mm, *vma, Links::moved);
      mm.vmas.move_bound(prev, vma, part.end);
      count_merge(mm, *prev, 1);
      return prev;
    }
    absorb_next(mm, prev, vma);
    if (next != nullptr) {
      adopt(mm.profile(), *prev, next->flags, next->anon_vma, next->chain);
      absorb_next(mm, prev, next);
    }
    count_merge(mm, *prev, next != nullptr ? 2 : 1);
    return prev;
  }
  if (next != nullptr) {
    adopt(mm.profile(), *next, vma->flags, vma->anon_vma, vma->chain);
    mm.count(Counter::bounds_moved);
    if (touches_start) {
      count_links(mm, *next, Links::moved);
      count_links(mm, *vma, Links::freed);
      mm.vmas.absorb_prev(next, vma);
      mm.count(Counter::vmas_freed);
    } else {
      split_huge_at(mm, part.start);
      count_links(mm, *vma, Links::moved);
      count_links(mm, *next, Links::moved);
      mm.vmas.move_bound(vma, next, part.start);
    }
    count_merge(mm, *next, 1);
    return next;
  }
  if (!touches_start) {
    const auto upper = split_vma(mm, vma, part.start, NewPart::lower);
    if (!upper) return upper;
    vma = *upper;
  }
  if (!touches_end) {
    const auto upper = split_vma(mm, vma, part.end, NewPart::upper);
    if (!upper) return upper;
  }
  vma->flags = flags;
  vma->uffd = uffd;
  vma->name = name;
  return vma;
}

Result<Vma*> modify(Mm& mm, Vma* vma, Range part, VmFlags flags, UffdId uffd, Tail tail) {
  const VmFlags before = vma->flags;
  const Result<Vma*> modified = merge_or_split(mm, vma, part, flags, uffd, vma->name, tail);
  if (!modified) return modified;
  mm.usage.change(before, flags, part.pages());
  mm.count(Counter::vmas_changed);
  if (mm.profile().soft_dirty_merge == SoftDirtyMerge::by_the_call) {
    Vma& vma_now = **modified;
    vma_now.flags = (vma_now.flags & ~VmFlags::soft_dirty) | (flags & VmFlags::soft_dirty);
  }
  return modified;
}

}  // namespace

Result<Vma*> modify_flags(Mm& mm, Vma* vma, Range part, VmFlags flags) {
  return modify(mm, vma, part, flags, vma->uffd, Tail::merges);
}

Result<Vma*> modify_watch(Mm& mm, Vma* vma, Range part, VmFlags flags, UffdId uffd) {
  const Tail tail = mm.profile().uffd_range == UffdRange::one_mapping ? Tail::stays_apart : Tail::merges;
  return modify(mm, vma, part, flags, uffd, tail);
}

Result<Vma*> modify_name(Mm& mm, Vma* vma, Range part, VmaName name) {
  return merge_or_split(mm, vma, part, vma->flags, vma->uffd, name, Tail::merges);
}

Result<Vma*> split_vma(Mm& mm, Vma* vma, Addr at, NewPart made) {
  if (mm.vmas.size() >= mm.system.tunables().max_map_count) {
    return mm.refuse(ENOMEM, Rule::map_count_limit, vma->range());
  }
  return split_unchecked(mm, vma, at, made);
}

Vma* split_unchecked(Mm& mm, Vma* vma, Addr at, NewPart made) {
  mm.count(Counter::splits);
  mm.count(Counter::vmas_made);
  mm.explain([&] { return Event{.kind = EventKind::split, .range = {at, vma->end}}; });
  split_huge_at(mm, at);
  count_links(mm, *vma, Links::made);
  count_links(mm, *vma, Links::moved);
  return mm.vmas.split(vma, at, made);
}

}  // namespace faultline::mm
