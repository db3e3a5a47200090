// mmap(2): D.5.
#include "mm/calls.h"
#include "mm/limits.h"
#include "mm/merge.h"
#include "mm/mmap_sharing.h"
#include "mm/soft_dirty.h"
#include "mm/stack.h"

namespace faultline::mm {
Result<Addr> place_mapping(Mm& mm, Addr hint, std::uint64_t bytes, MapFlags flags) {
  const Addr task_size = mm.geometry().task_size;
  const Range whole{Addr{0}, task_size};
  if (bytes > task_size.value) return mm.refuse(ENOMEM, Rule::bad_argument, whole);
  if (has(flags, MapFlags::fixed | MapFlags::fixed_noreplace)) {
    if (hint.value > task_size.value - bytes) return mm.refuse(ENOMEM, Rule::bad_argument, whole);
    if (!hint.page_aligned()) return mm.refuse(EINVAL, Rule::bad_argument, Range::of(hint, 0));
    if (hint.value < mm.system.tunables().mmap_min_addr) return mm.refuse(EPERM, Rule::bad_argument, whole);
    return hint;
  }
  // round_hint_to_min()
  if (const Addr page = hint.page_floor(); page.value != 0) {
    const Addr at{page_ceil(std::max(page.value, mm.system.tunables().mmap_min_addr))};
    const bool fits = at.value <= task_size.value - bytes;
    const Vma* next = mm.vmas.find(at);
    if (fits && (next == nullptr || at + bytes <= start_with_gap(*next))) return at;
  }
  mm.vmas.sought_gap(bytes);
  mm.count(Counter::gaps_sought);
  if (const auto at = highest_gap(mm, bytes)) return *at;
  return mm.refuse(ENOMEM, Rule::bad_argument, whole);
}

VmFlags new_mapping_flags(Prot prot) { return access_flags(prot) | VmFlags::may_access; }

namespace {

/// The flags of a VMA that those of mmap ask for by themselves (calc_vm_flag_bits).
VmFlags asked_flags(const Profile& profile, MapFlags flags) {
  VmFlags asked = has(flags, MapFlags::grows_down) ? VmFlags::grows_down : VmFlags::none;
  if (has(flags, MapFlags::stack) && profile.map_stack == MapStack::no_huge_pages) asked |= VmFlags::nohugepage;
  return asked;
}

/// Droppable memory is never locked, not even by what mlockall said of the future. It keeps apart from what it would
/// have merged with.
void unlock_droppable(Mm& mm, Vma& vma) {
  constexpr VmFlags kLocks = VmFlags::locked | VmFlags::lock_on_fault;
  if (!vma.is(VmFlags::droppable)) return;
  mm.usage.change(vma.flags, vma.flags & ~kLocks, vma.pages());
  vma.flags &= ~kLocks;
}

/// A mapping on its way: where, with which flags so far, of what.
struct NewMapping {
  Range range;
  VmFlags flags = VmFlags::none;
  const File* file = nullptr;
  std::uint64_t pgoff = 0;  // of the file
};

/// RLIMIT_AS and RLIMIT_DATA, once what the mapping replaces is gone.
Result<void> check_limits(Mm& mm, const NewMapping& mapping) {
  if (mm.limits.allow(mm.usage, mapping.flags, mapping.range.pages(), mapped_pages(mm, mapping.range))) return {};
  return mm.refuse(ENOMEM, Rule::resource_limit, mapping.range);
}

/// The refusals that come before anything changes, in the kernel's order, and what they make of the flags.
Result<void> check_mapping(Mm& mm, NewMapping& mapping, MapFlags flags) {
  const std::uint64_t pages = mapping.range.pages();
  if (has(flags, MapFlags::locked)) {
    if (!may_lock(mm)) return mm.refuse(EPERM, Rule::resource_limit, mapping.range);
    mapping.flags |= VmFlags::locked;
  }
  if (!lock_fits(mm, mapping.flags, pages)) return mm.refuse(EAGAIN, Rule::resource_limit, mapping.range);
  const Result<VmFlags> shared =
      sharing_flags(mm, mapping.flags, flags, mapping.file, mapping.pgoff, mapping.range.bytes());
  if (!shared) return std::unexpected(shared.error());
  mapping.flags = *shared;
  if (has(flags, MapFlags::noreserve) && mm.system.commit().policy() != Overcommit::never) {
    mapping.flags |= VmFlags::noreserve;
  }
  if (mm.profile().mmap_order != MmapOrder::checks_first) return check_limits(mm, mapping);
  return {};
}

/// What of the checks the era makes before it unmaps, or after (MmapOrder).
Result<void> check_write_exec(Mm& mm, const NewMapping& mapping) {
  if (!denies(mm.mdwe, mapping.flags, mapping.flags)) return {};
  return mm.refuse(EACCES, Rule::write_exec_denied, mapping.range);
}

/// Makes room, then the mapping (mmap_region). What goes wrong after older kernels made room leaves a hole.
Result<Vma*> make_mapping(Mm& mm, NewMapping& mapping) {
  constexpr VmFlags kExempt = VmFlags::noreserve | VmFlags::shared;
  const bool checks_first = mm.profile().mmap_order == MmapOrder::checks_first;
  const std::uint64_t pages = mapping.range.pages();
  if (has(mapping.flags, VmFlags::write) && !has(mapping.flags, kExempt)) mapping.flags |= VmFlags::account;
  const std::uint64_t charged = has(mapping.flags, VmFlags::account) ? pages : 0;
  Commit& commit = mm.system.commit();
  if (checks_first) {
    if (auto fine = check_write_exec(mm, mapping); !fine) return std::unexpected(fine.error());
    Result<void> fits = check_limits(mm, mapping);
    // What goes gives its promise back; what it gave is taken again below.
    const std::uint64_t given = mapped_pages(mm, mapping.range, VmFlags::account);
    if (fits && charged > given) {
      if (commit.charge(charged - given, mm.usage.total)) {
        commit.give_back(charged - given);
      } else {
        fits = mm.refuse(ENOMEM, Rule::commit_limit, mapping.range);
      }
    }
    if (!fits) {
      // What would have gone was split off before, and a seal found then.
      if (auto split = prepare_unmap(mm, mapping.range); !split) return std::unexpected(split.error());
      return std::unexpected(fits.error());
    }
  }
  mm.vmas.sought_place(mapping.range);
  if (mm.vmas.first_in(mapping.range) != nullptr) {
    if (auto unmapped = unmap_range(mm, mapping.range); !unmapped) return std::unexpected(unmapped.error());
    mm.vmas.sought_place(mapping.range);
  }
  Proposal proposal{.range = mapping.range, .flags = mapping.flags, .pgoff = mapping.range.start.page()};
  ShmemRef own_object;
  if (!checks_first) {
    if (charged != 0) {
      if (!commit.charge(charged, mm.usage.total)) return mm.refuse(ENOMEM, Rule::commit_limit, mapping.range);
      commit.give_back(charged);
    }
    if (auto fine = check_write_exec(mm, mapping); !fine) return std::unexpected(fine.error());
  }
  if (mapping.file != nullptr) {
    const Result<VmFlags> flags = flags_of_file(mm, mapping.flags, *mapping.file);
    if (!flags) return std::unexpected(flags.error());
    proposal.flags = *flags;
    proposal.pgoff = mapping.pgoff;
    proposal.object = mapping.file->object.get();
  } else if (has(mapping.flags, VmFlags::shared)) {
    const Promise promise = has(mapping.flags, VmFlags::noreserve) ? Promise::page_by_page : Promise::whole;
    if (promise == Promise::whole && !commit.charge(pages, mm.usage.total)) {
      return mm.refuse(ENOMEM, Rule::commit_limit, mapping.range);
    }
    proposal.pgoff = 0;
    own_object = std::make_shared<Shmem>(mm.frames(), commit, mapping.range.bytes(), promise);
    proposal.object = own_object.get();
  }
  commit.take(charged);
  Vma* const vma = insert_mapped(mm, proposal);
  mark_soft_dirty(mm.profile(), *vma);
  return vma;
}

}  // namespace

Result<Addr> do_mmap(Mm& mm, Addr hint, std::uint64_t length, Prot prot, MapFlags flags, const File* file,
                     std::uint64_t offset) {
  const Range asked = Range::of(hint, 0);
  if ((offset & (kPageSize - 1)) != 0) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  if (has(flags, MapFlags::anonymous)) {
    file = nullptr;
  } else if (file == nullptr) {
    return mm.refuse(EBADF, Rule::bad_argument, asked);
  }
  if (length == 0) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  const std::uint64_t bytes = page_ceil(length);
  if (bytes == 0) return mm.refuse(ENOMEM, Rule::bad_argument, asked);
  if ((offset >> kPageShift) + (bytes >> kPageShift) < (offset >> kPageShift)) {
    return mm.refuse(EOVERFLOW, Rule::bad_argument, asked);
  }
  mm.count(Counter::mmap_lock_write);
  const Tunables& tunables = mm.system.tunables();
  if (mm.vmas.size() > tunables.max_map_count) return mm.refuse(ENOMEM, Rule::map_count_limit, asked);

  // The key of what can be executed only is taken even where no place is found, since the flags are made up first: 6.10
  // on, with the other checks that this policy is about.
  Pkey key = 0;
  const bool keyed_first = mm.profile().mmap_order == MmapOrder::checks_first;
  if (keyed_first) key = pkey_of_mapping(mm, prot);
  const Result<Addr> at = place_mapping(mm, hint, bytes, flags);
  if (!at) return at;
  const Range range = Range::of(*at, bytes);
  if (has(flags, MapFlags::fixed_noreplace) && mm.vmas.first_in(range) != nullptr) {
    return mm.refuse(EEXIST, Rule::bad_argument, range);
  }
  if (!keyed_first) key = pkey_of_mapping(mm, prot);
  const VmFlags own = new_mapping_flags(prot) | pkey_flags(key);
  const VmFlags wanted = own | asked_flags(mm.profile(), flags) | mm.locks_ahead;
  NewMapping mapping{range, wanted, file, offset >> kPageShift};
  if (auto fine = check_mapping(mm, mapping, flags); !fine) return std::unexpected(fine.error());
  const Result<Vma*> vma = make_mapping(mm, mapping);
  if (!vma) return std::unexpected(vma.error());
  const bool fault_in =
      (*vma)->is(VmFlags::locked) || (flags & (MapFlags::populate | MapFlags::nonblock)) == MapFlags::populate;
  unlock_droppable(mm, **vma);
  if (fault_in && (*vma)->is(VmFlags::access)) {
    mm.count(Counter::mmap_lock_read);
    populate_as_permitted(mm, **vma, range);
  }
  return range.start;
}

}  // namespace faultline::mm
