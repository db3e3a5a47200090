#pragma once

#include "mm/fault.h"

/// NUMA balancing: pages are made inaccessible now and then, so that the next access tells where they are used (A.8).
namespace faultline::mm {

/// Is that an entry that a pass of NUMA balancing left: without any access in a VMA that allows some?
inline bool is_numa_hint(const Vma& vma, Pte pte) {
  return pte.present() && !pte.accessible() && vma.is(VmFlags::access);
}

/// What a fault on such an entry does: gives it the VMA's protection back, and what the profile's kernel knows of
/// whether it was writable (do_numa_page).
void resolve_numa_hint(Mm& mm, const Vma& vma, Addr addr, Pte pte, FaultOrigin origin);

/// One pass over a range (change_prot_numa), as if every page in it were on another node. No system call asks for one:
/// the kernel's timer does.
void do_numa_pass(Mm& mm, Range range);

}  // namespace faultline::mm
