#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/errno.h"
#include "base/flags.h"
#include "mm/file.h"
#include "mm/mm.h"

/// The system calls on an Mm, each in a file of its own name. Arguments and errors are those of AddressSpace.
namespace faultline::mm {

Result<Addr> do_mmap(Mm& mm, Addr hint, std::uint64_t length, Prot prot, MapFlags flags, const File* file,
                     std::uint64_t offset);
Result<void> do_ftruncate(Mm& mm, const File& file, std::uint64_t length);
Result<void> do_munmap(Mm& mm, Addr start, std::uint64_t length);
/// With a key it is pkey_mprotect(2).
Result<void> do_mprotect(Mm& mm, Addr start, std::uint64_t length, Prot prot, int pkey = kNoPkey);
Result<void> do_madvise(Mm& mm, Addr start, std::uint64_t length, Advice advice);
Result<void> do_mseal(Mm& mm, Addr start, std::uint64_t length, std::uint64_t flags);
Result<Addr> do_mremap(Mm& mm, Addr old, std::uint64_t old_length, std::uint64_t new_length, RemapFlags flags,
                       Addr target);
Result<void> do_mlock(Mm& mm, Addr start, std::uint64_t length, LockFlags flags);
Result<void> do_munlock(Mm& mm, Addr start, std::uint64_t length);
Result<void> do_mlockall(Mm& mm, LockAllFlags flags);
void do_munlockall(Mm& mm);
Result<void> do_msync(Mm& mm, Addr start, std::uint64_t length, SyncFlags flags);
/// What a number written to /proc/self/clear_refs asks for (proc_pid_clear_refs(5)); any int may be.
enum class ClearRefs : int { all = 1, anonymous = 2, mapped = 3, soft_dirty = 4, peak = 5 };
Result<void> do_clear_refs(Mm& mm, ClearRefs what);
Result<void> do_set_vma_name(Mm& mm, Addr start, std::uint64_t length, std::optional<std::string_view> text);
Addr do_brk(Mm& mm, Addr requested);
/// Nothing where the commit limit refuses (ENOMEM).
std::unique_ptr<Mm> do_fork(Mm& parent);

/// Where a new mapping goes (get_unmapped_area): at the hint if it is fixed or free, else the highest gap.
Result<Addr> place_mapping(Mm& mm, Addr hint, std::uint64_t bytes, MapFlags flags);

/// Unmaps a range whose bounds are known to be good: what munmap, a fixed mmap and a shrinking brk share. May pages be
/// given back with mmap_lock held for reading only, as nothing else is to be done?
enum class UnmapEnd : std::uint8_t { writing, reading };
Result<void> unmap_range(Mm& mm, Range range, UnmapEnd end = UnmapEnd::writing);
/// Only what comes before anything goes: splits at both ends, which stay, and the tests of seals.
Result<void> prepare_unmap(Mm& mm, Range range);

/// Faults the pages of a range inside one VMA in, as the kernel does for itself (D.7, C9). False at a guard region and
/// beyond the end of a file.
enum class Populate : std::uint8_t { read, write };
bool populate(Mm& mm, Vma& vma, Range range, Populate how);
/// The same as locking does it: for writing where that makes a private copy, else for reading; not at all what is
/// locked on fault only. False also where the VMA forbids every access.
bool populate_as_permitted(Mm& mm, Vma& vma, Range range);

/// MADV_FREE on pages inside one VMA: what was written may be dropped until it is written again, and entries become
/// clean and old. MADV_COLD: old only. Both split large folios (LargeAdvice).
enum class Aging : std::uint8_t { free, cold };
void age_pages(Mm& mm, Range part, Aging aging, FlushBatch& flush);

/// The flags that every new private anonymous mapping of these bits has.
VmFlags new_mapping_flags(Prot prot);

/// Changes the protection of the entries of a range inside one VMA to what the VMA's flags now say (change_protection),
/// or lets a userfaultfd protect them from writing, or no more.
enum class ProtectionChange : std::uint8_t { by_vma, uffd_protect, uffd_unprotect };
void change_protection(Mm& mm, const Vma& vma, Range range, FlushBatch& flush,
                       ProtectionChange change = ProtectionChange::by_vma);

}  // namespace faultline::mm
