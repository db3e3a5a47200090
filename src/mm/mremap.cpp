// mremap(2): C.3, D.2, D.6.
#include <algorithm>

#include "mm/calls.h"
#include "mm/limits.h"
#include "mm/merge.h"
#include "mm/move_pages.h"
#include "mm/seal.h"
#include "mm/userfault.h"

namespace faultline::mm {
namespace {

struct Request {
  Addr old;
  std::uint64_t old_bytes = 0;
  std::uint64_t new_bytes = 0;
  RemapFlags flags = RemapFlags::none;
  Addr target;  // meaningful with fixed; a hint with dontunmap

  bool is(RemapFlags bits) const { return has(flags, bits); }
  bool names_target() const { return is(RemapFlags::fixed | RemapFlags::dontunmap); }
  Range source() const { return Range::of(old, old_bytes); }
  bool overlaps() const { return old + old_bytes > target && target + new_bytes > old; }
};

bool order_is(const Mm& mm, Mremap order) { return mm.profile().mremap == order; }

Result<void> refuse(Mm& mm, const Request& request, int error, Rule rule = Rule::bad_argument) {
  return mm.refuse(error, rule, Range::of(request.old, 0));
}

/// What needs no look at the mappings, in every era.
Result<void> check_flags(Mm& mm, const Request& request, bool equal_lengths) {
  constexpr RemapFlags kKnown = RemapFlags::maymove | RemapFlags::fixed | RemapFlags::dontunmap;
  if (has(request.flags, ~kKnown)) return refuse(mm, request, EINVAL);
  if (request.names_target() && !request.is(RemapFlags::maymove)) return refuse(mm, request, EINVAL);
  if (request.is(RemapFlags::dontunmap) && !equal_lengths) return refuse(mm, request, EINVAL);
  if (!request.old.page_aligned() || request.new_bytes == 0) return refuse(mm, request, EINVAL);
  return {};
}

Result<void> check_target(Mm& mm, const Request& request) {
  const std::uint64_t task_size = mm.geometry().task_size.value;
  if (request.new_bytes > task_size) return refuse(mm, request, EINVAL);
  if (!request.names_target()) return {};
  const bool fits = request.target.page_aligned() && request.target.value <= task_size - request.new_bytes;
  if (!fits || request.overlaps()) return refuse(mm, request, EINVAL);
  return {};
}

Result<void> check_seal(Mm& mm, const Vma& vma, const Request& request) {
  if (auto sealed = check_seals_upfront(mm, request.source()); !sealed) return sealed;
  return check_seal_in_loop(mm, vma);
}

/// The checks of a mapping that is to be resized or moved (vma_to_resize). `old_bytes` is what is left of it after a
/// shrink.
Result<void> check_source(Mm& mm, const Vma* vma, const Request& request, std::uint64_t old_bytes) {
  if (vma == nullptr) return refuse(mm, request, EFAULT, Rule::hole);
  // Length 0 asks for a second mapping of the same pages, which private memory cannot have.
  if (old_bytes == 0 && !vma->is(VmFlags::may_share)) return refuse(mm, request, EINVAL);
  if (request.is(RemapFlags::dontunmap) && vma->object != nullptr && order_is(mm, Mremap::late_lookup)) {
    return refuse(mm, request, EINVAL);
  }
  if (old_bytes > vma->end - request.old) return refuse(mm, request, EFAULT, Rule::hole);
  if (request.new_bytes == old_bytes) return {};
  const std::uint64_t more = (request.new_bytes - old_bytes) >> kPageShift;
  if (!lock_fits(mm, vma->flags, more)) return refuse(mm, request, EAGAIN, Rule::resource_limit);
  if (!mm.limits.allow(mm.usage, vma->flags, more)) return refuse(mm, request, ENOMEM, Rule::resource_limit);
  return {};
}

/// Room below the limit for the copy and for what unmapping the source may split.
Result<void> check_room(Mm& mm, const Request& request, std::uint64_t more) {
  const std::uint64_t limit = mm.system.tunables().max_map_count;
  if (mm.profile().mremap_room == MremapRoom::every_call) return {};  // looked at already
  return mm.vmas.size() + more + 3 >= limit ? refuse(mm, request, ENOMEM, Rule::map_count_limit) : Result<void>();
}

Result<void> check_room_of_every_call(Mm& mm, const Request& request) {
  if (mm.profile().mremap_room != MremapRoom::every_call) return {};
  const std::uint64_t needed = request.is(RemapFlags::dontunmap) ? 5 : 4;
  if (mm.vmas.size() + needed <= mm.system.tunables().max_map_count) return {};
  return refuse(mm, request, ENOMEM, Rule::map_count_limit);
}

/// The copy is promised as a whole; the source gives its promise back when it is unmapped.
Result<void> charge_move(Mm& mm, const Vma& vma, const Request& request, std::uint64_t old_bytes) {
  if (!vma.is(VmFlags::account)) return {};
  const std::uint64_t given = request.is(RemapFlags::dontunmap) ? 0 : old_bytes >> kPageShift;
  const std::uint64_t wanted = request.new_bytes >> kPageShift;
  if (!mm.system.commit().charge(wanted - given, mm.usage.total))
    return refuse(mm, request, ENOMEM, Rule::commit_limit);
  mm.system.commit().take(given);
  return {};
}

/// Shrinks the source, which munmap may refuse.
Result<void> cut_tail(Mm& mm, const Request& request, UnmapEnd after) {
  const std::uint64_t task_size = mm.geometry().task_size.value;
  const Addr end = request.old + request.new_bytes;
  const std::uint64_t bytes = request.old_bytes - request.new_bytes;
  if (bytes == 0) return {};
  if (end.value > task_size || bytes > task_size - end.value) return refuse(mm, request, EINVAL);
  return unmap_range(mm, Range::of(end, bytes), after);
}

bool leaves_distinct(const Mm& mm, const Request& request) {
  return request.is(RemapFlags::dontunmap) && mm.profile().remap_kept == RemapKept::distinct;
}

/// All of what is left is unlocked, of which locked_vm hears nothing; up to 6.16 it is not told of the copy either.
std::uint64_t lost_locks(const Mm& mm, const Vma& left, const Request& request) {
  const std::uint64_t copied = order_is(mm, Mremap::parameters_first) ? 0 : request.new_bytes >> kPageShift;
  return left.pages() - copied;
}

/// 5.10 takes what it leaves for split by munmap, which was not called, and lets the mapping behind it count.
void charge_next(const Mm& mm, const Vma& left, const Vma& moved_to, Range source) {
  const bool counts = mm.profile().remap_charge == RemapCharge::next_too && left.is(VmFlags::account);
  const bool inside = left.start < source.start && source.end < left.end;
  Vma* const next = mm.vmas.next(left);
  if (counts && inside && &left != &moved_to && next != nullptr) next->flags |= VmFlags::account;
}

/// Only what is moved is to lose its lock.
Result<void> split_off_locked(Mm& mm, const Request& request, Range source) {
  Vma* vma = mm.vmas.at(source.start);
  if (!leaves_distinct(mm, request) || !vma->is(VmFlags::locked)) return {};
  if (vma->start < source.start) {
    const auto upper = split_vma(mm, vma, source.start, NewPart::lower);
    if (!upper) return std::unexpected(upper.error());
    vma = *upper;
  }
  if (source.end < vma->end) {
    if (const auto upper = split_vma(mm, vma, source.end, NewPart::upper); !upper)
      return std::unexpected(upper.error());
  }
  return {};
}

/// Moves the source to free addresses at `target` and grows it to the new length (move_vma).
Result<Addr> move_vma(Mm& mm, const Request& request, std::uint64_t old_bytes, Addr target) {
  if (auto room = check_room(mm, request, 0); !room) return std::unexpected(room.error());
  const Range source = Range::of(request.old, old_bytes);
  if (auto split = split_off_locked(mm, request, source); !split) return std::unexpected(split.error());
  mm.vmas.sought_place(Range::of(target, request.new_bytes));
  const Vma original = *mm.vmas.at(request.old);
  mm.count(Counter::vmas_moved);
  if (auto charged = charge_move(mm, original, request, old_bytes); !charged) return std::unexpected(charged.error());
  // What was never faulted in takes the offset of its new place, and may merge there.
  const bool takes_place = original.object == nullptr && original.anon_vma == 0;
  const std::uint64_t pgoff = takes_place ? target.page() : original.pgoff_at(request.old);
  const bool kept_apart = leaves_distinct(mm, request) && takes_place;
  const Proposal copy{.range = Range::of(target, request.new_bytes),
                      .flags = original.flags,
                      .pgoff = pgoff,
                      .anon_vma = original.anon_vma,
                      .chain = original.chain,
                      .object = original.object,
                      .uffd = original.uffd,
                      .name = original.name};
  const bool alone = original.uffd != 0 && mm.profile().uffd_move == UffdMove::unprotects_apart;
  Vma* const moved_to =
      alone ? insert_alone(mm, copy) : insert_merged_apart(mm, copy, kept_apart ? mm.vmas.at(request.old) : nullptr);
  // Nobody asks for UFFD_FEATURE_EVENT_REMAP: what is moved, and what that merged with, is watched no more.
  if (original.uffd != 0) {
    moved_to->flags &= ~kUffdFlags;
    moved_to->uffd = 0;
  }
  const bool unprotects = original.uffd != 0 && mm.profile().uffd_move != UffdMove::keeps_protection;
  move_pages(mm, source, target, unprotects ? UffdWp::goes : UffdWp::stays);
  if (request.is(RemapFlags::dontunmap)) {
    Vma* left = mm.vmas.at(request.old);
    if (left->is(VmFlags::locked)) {
      if (!leaves_distinct(mm, request)) mm.lost_locks += lost_locks(mm, *left, request);
      mm.usage.remove(left->flags, left->pages());
      left->flags &= ~(VmFlags::locked | VmFlags::lock_on_fault);
      mm.usage.add(left->flags, left->pages());
    }
    if (left->range() == source && mm.profile().remap_kept != RemapKept::faulted) {
      left->anon_vma = 0;
      left->chain = 0;
      if (leaves_distinct(mm, request) && left->object == nullptr) left->pgoff = left->start.page();
    }
    charge_next(mm, *left, *moved_to, source);
  } else if (auto unmapped = unmap_range(mm, source); !unmapped) {
    return std::unexpected(unmapped.error());
  }
  if (original.is(VmFlags::locked) && request.new_bytes > old_bytes) {
    populate_as_permitted(mm, *mm.vmas.at(target), {target + old_bytes, target + request.new_bytes});
  }
  return target;
}

/// With an address of the caller's choice: the destination goes first, then a shrink, then the move (mremap_to).
Result<Addr> remap_to(Mm& mm, const Request& request) {
  if (order_is(mm, Mremap::late_lookup) || order_is(mm, Mremap::lookup_first)) {
    if (auto fine = check_target(mm, request); !fine) return std::unexpected(fine.error());
    if (auto room = check_room(mm, request, 2); !room) return std::unexpected(room.error());
  }
  if (auto sealed = check_seals_upfront(mm, request.source()); !sealed) return std::unexpected(sealed.error());
  if (request.is(RemapFlags::fixed)) {
    if (auto cleared = unmap_range(mm, Range::of(request.target, request.new_bytes)); !cleared) {
      return std::unexpected(cleared.error());
    }
  }
  if (order_is(mm, Mremap::parameters_first) && mm.vmas.at(request.old) == nullptr) {
    return mm.refuse(EFAULT, Rule::hole, request.source());
  }
  std::uint64_t old_bytes = request.old_bytes;
  if (old_bytes > request.new_bytes) {
    if (auto cut = cut_tail(mm, request, UnmapEnd::writing); !cut) return std::unexpected(cut.error());
    old_bytes = request.new_bytes;
  }
  mm.vmas.sought(request.old);
  if (auto fine = check_source(mm, mm.vmas.at(request.old), request, old_bytes); !fine) {
    return std::unexpected(fine.error());
  }
  if (request.is(RemapFlags::dontunmap) &&
      !mm.limits.allow(mm.usage, mm.vmas.at(request.old)->flags, old_bytes >> kPageShift)) {
    return mm.refuse(ENOMEM, Rule::resource_limit, request.source());
  }
  const MapFlags how = request.is(RemapFlags::fixed) ? MapFlags::fixed : MapFlags::none;
  const Result<Addr> target = place_mapping(mm, request.target, request.new_bytes, how);
  if (!target) return target;
  return move_vma(mm, request, old_bytes, *target);
}

/// A move of equal size over several mappings, one by one; gaps between them are kept (6.17 on).
Result<Addr> move_all(Mm& mm, const Request& request) {
  const Range source = request.source();
  Vma* vma = mm.vmas.first_in(source);
  if (vma == nullptr || vma->start > source.start) return mm.refuse(EFAULT, Rule::hole, source);
  for (Addr at = source.start; vma != nullptr && vma->start < source.end;) {
    const Range part = source.intersect(vma->range());
    visit_vma(mm);
    // What a userfaultfd watches moves alone: it may have to be told.
    const bool alone = part == source;
    if (vma->uffd != 0 && !alone) return mm.refuse(EFAULT, Rule::watched_among_others, part);
    const Request one{part.start, part.bytes(), part.bytes(), request.flags,
                      request.target + (part.start - request.old)};
    if (auto sealed = check_seal(mm, *vma, one); !sealed) return std::unexpected(sealed.error());
    const Result<Addr> moved = remap_to(mm, one);
    if (!moved) return moved;
    at = part.end;
    vma = at < source.end ? mm.vmas.first_in({at, source.end}) : nullptr;
  }
  return request.target;
}

/// Without an address: shrink or grow in place, else move where it fits.
Result<Addr> remap_at(Mm& mm, const Request& request) {
  if (auto sealed = check_seals_upfront(mm, request.source()); !sealed) return std::unexpected(sealed.error());
  if (request.old_bytes >= request.new_bytes) {
    if (auto cut = cut_tail(mm, request, UnmapEnd::reading); !cut) return std::unexpected(cut.error());
    return request.old;
  }
  mm.vmas.sought(request.old);
  Vma* vma = mm.vmas.at(request.old);
  if (auto fine = check_source(mm, vma, request, request.old_bytes); !fine) return std::unexpected(fine.error());
  const std::uint64_t more = request.new_bytes - request.old_bytes;
  const Vma* next = mm.vmas.next(*vma);
  const Addr ceiling = next != nullptr ? next->start : mm.geometry().task_size;
  if (request.source().end == vma->end && ceiling - vma->end >= more) {
    const Range grown = Range::of(vma->end, more);
    if (vma->is(VmFlags::account) && !mm.system.commit().charge(grown.pages(), mm.usage.total)) {
      return mm.refuse(ENOMEM, Rule::commit_limit, vma->range());
    }
    vma = extend(mm, vma, more, order_is(mm, Mremap::late_lookup) ? Extension::alone : Extension::merging);
    if (vma->is(VmFlags::locked)) populate_as_permitted(mm, *vma, grown);
    return request.old;
  }
  if (!request.is(RemapFlags::maymove)) return mm.refuse(ENOMEM, Rule::bad_argument, vma->range());
  const Result<Addr> target = place_mapping(mm, {}, request.new_bytes, MapFlags::none);
  if (!target) return target;
  return move_vma(mm, request, request.old_bytes, *target);
}

}  // namespace

Result<Addr> do_mremap(Mm& mm, Addr old, std::uint64_t old_length, std::uint64_t new_length, RemapFlags flags,
                       Addr target) {
  const Request request{old, page_ceil(old_length), page_ceil(new_length), flags, target};
  const bool equal_lengths =
      order_is(mm, Mremap::parameters_first) ? request.old_bytes == request.new_bytes : old_length == new_length;
  if (auto fine = check_flags(mm, request, equal_lengths); !fine) return std::unexpected(fine.error());
  if (order_is(mm, Mremap::parameters_first)) {
    if (auto fine = check_target(mm, request); !fine) return std::unexpected(fine.error());
    if (request.names_target()) {
      if (auto room = check_room(mm, request, 2); !room) return std::unexpected(room.error());
    }
  }
  mm.count(Counter::mmap_lock_write);
  if (auto room = check_room_of_every_call(mm, request); !room) return std::unexpected(room.error());
  const bool moves_all =
      order_is(mm, Mremap::parameters_first) && request.is(RemapFlags::fixed) && request.old_bytes == request.new_bytes;
  if (moves_all) return move_all(mm, request);
  if (!order_is(mm, Mremap::late_lookup)) {
    const Vma* vma = mm.vmas.at(old);
    if (vma == nullptr) return mm.refuse(EFAULT, Rule::hole, Range::of(old, 0));
    visit_vma(mm);
    if (auto sealed = check_seal_in_loop(mm, *vma); !sealed) return std::unexpected(sealed.error());
    // Before anything at the destination goes.
    const bool maps_anew = request.names_target() || request.new_bytes > request.old_bytes;
    if (order_is(mm, Mremap::parameters_first) && maps_anew) {
      const std::uint64_t kept = std::min(request.old_bytes, request.new_bytes);
      if (auto fine = check_source(mm, vma, request, kept); !fine) return std::unexpected(fine.error());
    }
  }
  return request.names_target() ? remap_to(mm, request) : remap_at(mm, request);
}

}  // namespace faultline::mm
