#pragma once

#include "mm/fault.h"
#include "mm/userfaultfd.h"

/// What a userfaultfd does to faults and entries (D.9).
namespace faultline::mm {

constexpr VmFlags kUffdFlags = VmFlags::uffd_missing | VmFlags::uffd_wp;

/// The userfaultfd that watches a mapping, or nullptr.
Userfaultfd* watcher(const Mm& mm, const Vma& vma);

/// Is the entry protected from writing by the userfaultfd of its mapping (userfaultfd_pte_wp)?
inline bool is_uffd_protected(const Vma& vma, Pte pte) { return vma.is(VmFlags::uffd_wp) && pte.uffd_wp(); }
/// What protects an entry in the table, besides that it is read-only (pte_mkuffd_wp).
inline std::uint64_t uffd_mark(const Profile& profile) {
  return profile.uffd_marks == UffdMarks::in_tables ? Pte::kUffdWp : 0;
}
/// Does a write to such a page take the protection away by itself?
bool is_uffd_async(const Mm& mm, const Vma& vma);

/// A fault that a userfaultfd is to answer (handle_userfault). Where it may wait, the machine's own handler answers: a
/// missing page by UFFDIO_COPY of zeroes, a protected one by UFFDIO_WRITEPROTECT of that page; the fault is then
/// tried again in the kernel, which counts as a major one.
enum class Userfault : std::uint8_t { missing, write_protected };
Handled handle_userfault(Mm& mm, Vma& vma, Addr addr, Userfault why, arch::Report access, FaultOrigin origin);

/// The entry of a page that was just mapped where a marker was: it stays protected.
void keep_uffd_protection(Mm& mm, Addr addr);

/// Protects a range inside one VMA from writing, or takes that away (uffd_wp_range).
void protect_by_uffd(Mm& mm, const Vma& vma, Range range, UffdProtect mode);

/// Puts a page of these bytes there, or the zero page where `bytes` is empty (mfill_atomic): EEXIST, EFAULT.
Result<void> fill_page(Mm& mm, Vma& vma, Addr addr, std::span<const std::uint8_t> bytes, UffdFill mode);

}  // namespace faultline::mm
