#pragma once

#include <cstdint>

#include "base/flags.h"
#include "base/page.h"
#include "mm/shmem.h"
#include "mm/vma_names.h"

namespace faultline::mm {

/// vm_flags, with the kernel's bit values where user space can see them (smaps) and bits of our own above.
enum class VmFlags : std::uint64_t {
  none = 0,
  read = 0x1,
  write = 0x2,
  exec = 0x4,
  shared = 0x8,
  may_read = 0x10,
  may_write = 0x20,
  may_exec = 0x40,
  may_share = 0x80,  // MAP_SHARED, also where `shared` is taken away because the file is not open for writing
  grows_down = 0x100,
  maybe_guard = 0x800,   // MADV_GUARD_INSTALL was here, as far as the profile's kernel notes it
  uffd_missing = 0x200,  // a userfaultfd is told of missing pages
  uffd_wp = 0x1000,      // and of writes to the pages that it protects
  locked = 0x2000,
  seq_read = 0x8000,
  rand_read = 0x10000,
  dontcopy = 0x20000,
  lock_on_fault = 0x80000,
  account = 0x100000,
  noreserve = 0x200000,
  wipeonfork = 0x2000000,
  dontdump = 0x4000000,
  soft_dirty = 0x8000000,  // counts as written to as a whole; taken away by clear_refs(4), and tracking begins
  hugepage = 0x20000000,
  nohugepage = 0x40000000,
  mergeable = 0x80000000,
  pkey = 0xfULL << 32,  // the number of the protection key (pkeys.h)
  droppable = 1ULL << 40,
  sealed = 1ULL << 63,

  access = read | write | exec,
  may_access = may_read | may_write | may_exec,
};
}  // namespace faultline::mm

template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::VmFlags> = true;

namespace faultline::mm {

/// Where the number of the protection key begins in vm_flags.
inline constexpr unsigned kPkeyShift = 32;

/// An anon_vma's identity; 0 is "none yet".
using AnonVma = std::uint32_t;
/// How many anon_vmas a VMA's pages may belong to; only whether it is more than one matters.
using AnonVmaChain = std::uint8_t;

/// Which userfaultfd of its address space watches a mapping; 0 is "none".
using UffdId = std::uint16_t;

/// A virtual memory area: a range of addresses with equal attributes (vm_area_struct). Its own VmaTree alone moves its
/// bounds. One cache line, since a million of them do not fit into a cache.
struct alignas(64) Vma {
  Addr start{};
  Addr end{};
  VmFlags flags = VmFlags::none;
  std::uint64_t pgoff = 0;  // in pages, of the object; for anonymous memory the page number at which it was mapped
  AnonVma anon_vma = 0;     // set by the first fault that needs one
  /// Length of the anon_vma chain: 0 without an anon_vma, 1 with one of its own, more when fork cloned it. A cloned VMA
  /// does not merge with one that has no anon_vma (D.1).
  AnonVmaChain chain = 0;
  VmaName name = kUnnamed;  // in the System's VmaNames; VMAs of different names do not merge
  UffdId uffd = 0;
  /// What is mapped, from page `pgoff` on: a memfd, or the object of a shared anonymous mapping; its VmaTree has a
  /// share in it. None for private anonymous memory (vma_is_anonymous).
  Shmem* object = nullptr;

  // The neighbours by address, kept by the VmaTree.
  Vma* lower = nullptr;
  Vma* upper = nullptr;

  Range range() const { return {start, end}; }
  std::uint64_t pages() const { return range().pages(); }
  bool is(VmFlags bits) const { return has(flags, bits); }
  std::uint64_t pgoff_at(Addr addr) const { return pgoff + ((addr - start) >> kPageShift); }
};
static_assert(sizeof(Vma) == 64, "one cache line");

/// The PROT_ bits of a VMA.
constexpr Prot prot_of(VmFlags flags) { return static_cast<Prot>(static_cast<std::uint64_t>(flags & VmFlags::access)); }
/// The access flags of PROT_ bits; other bits are dropped.
constexpr VmFlags access_flags(Prot prot) {
  return static_cast<VmFlags>(static_cast<std::uint64_t>(prot)) & VmFlags::access;
}

}  // namespace faultline::mm
