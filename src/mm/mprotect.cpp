// mprotect(2): D.3, A.2, A.3.
#include "mm/calls.h"
#include "mm/merge.h"
#include "mm/seal.h"

namespace faultline::mm {
namespace {

/// What the call asks for.
struct Asked {
  Prot prot = Prot::none;
  int pkey = kNoPkey;
};

/// The flags of a VMA with other access and another key; all else stays.
VmFlags with_access(Mm& mm, const Vma& vma, Asked asked) {
  const Pkey key = pkey_after_mprotect(mm, vma, asked.prot, asked.pkey);
  return (vma.flags & ~(VmFlags::access | VmFlags::pkey)) | access_flags(asked.prot) | pkey_flags(key);
}

/// Does the mapping permit that much, ever (VM_MAYREAD and its kin)?
bool permits(VmFlags flags) {
  constexpr unsigned kToMay = 4;
  const auto bits = static_cast<std::uint64_t>(flags);
  return !has(static_cast<VmFlags>(bits & ~(bits >> kToMay)), VmFlags::access);
}

/// Is there room for memory that becomes data (RLIMIT_DATA)?
bool expands(const Mm& mm, VmFlags before, VmFlags after, std::uint64_t pages) {
  return !has(after, VmFlags::write) || mm.limits.allow(mm.usage, after, pages) ||
         !mm.limits.allow(mm.usage, before, pages);
}

/// Whether the flags carry the commit charge after the change: what becomes writable is charged once.
VmFlags with_charge(const Profile& profile, const Vma& vma, VmFlags flags) {
  if (has(flags, VmFlags::write)) {
    constexpr VmFlags kExempt = VmFlags::account | VmFlags::write | VmFlags::shared | VmFlags::noreserve;
    if (!vma.is(kExempt)) flags |= VmFlags::account;
  } else if (profile.uncharge == Uncharge::unfaulted && vma.object == nullptr && vma.anon_vma == 0) {
    flags &= ~VmFlags::account;
  }
  return flags;
}

/// Changes one VMA's part of the range (mprotect_fixup). Returns the VMA that now holds it.
Result<Vma*> protect_vma(Mm& mm, Vma* vma, Range part, Asked asked, FlushBatch& flush) {
  const VmFlags flags = with_access(mm, *vma, asked);
  if (!permits(flags)) return mm.refuse(EACCES, Rule::file_permission, vma->range());
  if (denies(mm.mdwe, vma->flags, flags)) return mm.refuse(EACCES, Rule::write_exec_denied, vma->range());
  if (auto sealed = check_seal_in_loop(mm, *vma); !sealed) return std::unexpected(sealed.error());
  if (flags == vma->flags) return vma;
  const std::uint64_t pages = part.pages();
  if (!expands(mm, vma->flags, flags, pages)) return mm.refuse(ENOMEM, Rule::resource_limit, part);
  const VmFlags before = vma->flags;
  const VmFlags after = with_charge(mm.profile(), *vma, flags);
  const bool charges = has(after, VmFlags::account) && !has(before, VmFlags::account);
  if (charges && !mm.system.commit().charge(pages, mm.usage.total)) return mm.refuse(ENOMEM, Rule::commit_limit, part);
  const Result<Vma*> changed = modify_flags(mm, vma, part, after);
  if (!changed) {
    if (charges) mm.system.commit().give_back(pages);
    return changed;
  }
  change_protection(mm, **changed, part, flush);
  if (has(before, VmFlags::account) && !has(after, VmFlags::account)) mm.system.commit().give_back(pages);
  // Locked private pages that become writable are made so now, lest a write fault on one has to wait.
  const bool was_readonly = has(before, VmFlags::locked) && !has(before, VmFlags::write | VmFlags::shared);
  if (was_readonly && has(after, VmFlags::write)) populate_as_permitted(mm, **changed, part);
  return changed;
}

}  // namespace

Result<void> do_mprotect(Mm& mm, Addr start, std::uint64_t length, Prot prot, int pkey) {
  const Range asked = Range::of(start, 0);
  constexpr Prot kGrows = Prot::grows_down | Prot::grows_up;
  const Prot grows = prot & kGrows;
  prot &= ~kGrows;
  if (grows == kGrows) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  if (!start.page_aligned()) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  if (length == 0) return {};
  const std::uint64_t bytes = page_ceil(length);
  const Addr end = start + bytes;
  if (end <= start) return mm.refuse(ENOMEM, Rule::bad_argument, asked);
  constexpr Prot kKnown = Prot::read | Prot::write | Prot::exec | Prot::sem;
  if (has(prot, ~kKnown)) return mm.refuse(EINVAL, Rule::bad_argument, asked);

  mm.count(Counter::mmap_lock_write);
  Range range{start, end};
  if (auto fine = check_pkey(mm, pkey, range); !fine) return fine;
  mm.vmas.sought(start, Lookup::with_neighbour);
  Vma* vma = mm.vmas.find(start);
  if (vma == nullptr) return mm.refuse(ENOMEM, Rule::hole, range);
  if (grows == Prot::grows_down) {
    // All of the stack, from wherever it has grown down to.
    if (vma->start >= end) return mm.refuse(ENOMEM, Rule::hole, range);
    start = range.start = vma->start;
    if (!vma->is(VmFlags::grows_down)) return mm.refuse(EINVAL, Rule::bad_argument, range);
  }
  if (vma->start > start) return mm.refuse(ENOMEM, Rule::hole, range);
  if (grows == Prot::grows_up) return mm.refuse(EINVAL, Rule::bad_argument, range);
  if (auto sealed = check_seals_upfront(mm, range); !sealed) return sealed;

  FlushBatch flush(mm);
  Result<void> result;
  for (Addr at = start; at < end;) {
    if (vma == nullptr || vma->start > at) {
      result = mm.refuse(ENOMEM, Rule::hole, {at, end});
      break;
    }
    visit_vma(mm);
    const auto changed = protect_vma(mm, vma, range.intersect({at, vma->end}), {prot, pkey}, flush);
    if (!changed) {
      result = std::unexpected(changed.error());
      break;
    }
    at = (*changed)->end;
    vma = mm.vmas.next(**changed);
  }
  flush.perform();
  return result;
}

}  // namespace faultline::mm
