// mmap(2): D.5.
#include "mm/calls.h"
#include "mm/merge.h"
#include "mm/mmap_sharing.h"

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
  if (hint.value != 0) {
    Addr at{page_ceil(std::max(hint.value, mm.system.tunables().mmap_min_addr))};
    const bool fits = at.value <= task_size.value - bytes;
    if (fits && mm.vmas.first_in(Range::of(at, bytes)) == nullptr) return at;
  }
  if (const auto at = mm.vmas.highest_gap(bytes)) return *at;
  return mm.refuse(ENOMEM, Rule::bad_argument, whole);
}

VmFlags new_mapping_flags(const Profile& profile, Prot prot) {
  VmFlags flags = access_flags(prot) | VmFlags::may_access;
  if (profile.exec_only == ExecOnly::pku && access_flags(prot) == VmFlags::exec) flags |= VmFlags::exec_only_key;
  return flags;
}

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

  const Result<Addr> at = place_mapping(mm, hint, bytes, flags);
  if (!at) return at;
  const Range range = Range::of(*at, bytes);
  if (has(flags, MapFlags::fixed_noreplace) && mm.vmas.first_in(range) != nullptr) {
    return mm.refuse(EEXIST, Rule::bad_argument, range);
  }
  Result<VmFlags> vm_flags =
      sharing_flags(mm, new_mapping_flags(mm.profile(), prot), flags, file, offset >> kPageShift, bytes);
  if (!vm_flags) return std::unexpected(vm_flags.error());

  if (has(flags, MapFlags::fixed)) {
    const auto unmapped = unmap_range(mm, range);
    if (!unmapped) return std::unexpected(unmapped.error());
  }
  if (has(flags, MapFlags::noreserve)) {
    *vm_flags |= VmFlags::noreserve;
  } else if (has(*vm_flags, VmFlags::write) && !has(*vm_flags, VmFlags::shared)) {
    *vm_flags |= VmFlags::account;
  }
  if (has(flags, MapFlags::locked)) *vm_flags |= VmFlags::locked;
  Proposal proposal{.range = range, .flags = *vm_flags, .pgoff = range.start.page()};
  if (file != nullptr) {
    vm_flags = flags_of_file(mm, *vm_flags, *file);
    if (!vm_flags) return std::unexpected(vm_flags.error());
    proposal.flags = *vm_flags;
    proposal.pgoff = offset >> kPageShift;
    proposal.object = file->object;
  } else if (has(*vm_flags, VmFlags::shared)) {
    proposal.pgoff = 0;
    proposal.object = std::make_shared<Shmem>(mm.frames(), bytes);
  }
  Vma* vma = insert_merged(mm, proposal);
  const bool fault_in =
      has(flags, MapFlags::locked) || (flags & (MapFlags::populate | MapFlags::nonblock)) == MapFlags::populate;
  if (fault_in && vma->is(VmFlags::access)) {
    mm.count(Counter::mmap_lock_read);
    populate_as_permitted(mm, *vma, range);
  }
  return range.start;
}

}  // namespace faultline::mm
