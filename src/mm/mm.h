#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/arch.h"
#include "base/counters.h"
#include "mm/flush.h"
#include "mm/limits.h"
#include "mm/mdwe.h"
#include "mm/page_table.h"
#include "mm/pkeys.h"
#include "mm/system.h"
#include "mm/tlb.h"
#include "mm/trace.h"
#include "mm/vma_tree.h"

namespace faultline::mm {

class Userfaultfd;

/// The state of an address space (mm_struct), and the pieces that the calls share. AddressSpace is its public face;
/// each call is a function in a file of its own that works on this.
struct Mm {
  explicit Mm(System& owner);
  Mm(System& owner, const Mm& parent);  // for fork: the parent's VMAs, no pages
  ~Mm();                                // gives its frames back
  Mm(const Mm&) = delete;
  Mm& operator=(const Mm&) = delete;

  const Profile& profile() const { return system.profile(); }
  /// Where mappings may be placed.
  Range placement_space() const;
  const arch::Geometry& geometry() const { return arch::geometry(profile().arch); }
  FramePool& frames() { return system.frames(); }

  void count(Counter counter, std::uint64_t n = 1) { counters[counter] += n; }
  /// locked_vm.
  std::uint64_t counted_as_locked() const { return usage.locked + lost_locks; }

  /// Tells the observer, if there is one. `make` builds the event, only then.
  template <class Make>
  void explain(Make&& make) {
    if (observer != nullptr) [[unlikely]] {
      observer->on(make());
    }
  }
  std::unexpected<Errno> refuse(int error, Rule rule, Range range);

  System& system;
  VmaTree vmas;
  PageTable table;
  Tlb tlb;
  Counters counters;
  Observer* observer = nullptr;
  Addr brk_start;
  Addr brk;
  Limits limits;
  Usage usage;
  VmFlags locks_ahead = VmFlags::none;  // mlockall(MCL_FUTURE): flags that new mappings get (def_flags)
  DenyWriteExec mdwe = DenyWriteExec::none;
  std::uint64_t lost_locks =
      0;  // pages counted as locked for ever, since mremap unlocked them and did not say so (D.6)
  bool scattered_folios = false;    // mremap has moved a part of a large folio away from the others
  std::vector<Userfaultfd*> uffds;  // by id from 1 on; nullptr where one was closed
  bool has_numa_hints = false;      // a pass of NUMA balancing was made over it
  PkeyMap pkeys;
  Pkru pkru;                // of the thread that runs
  bool has_pinned = false;  // a page of it was ever pinned (MMF_HAS_PINNED): fork looks closer then
};

/// Who looks at VMAs; `visit` counts one that a call's loop has reached.
inline void visit_vma(Mm& mm) { mm.count(Counter::vma_visits); }

/// The PTE protection bits of a VMA (the protection map): private memory is never writable by default, so that
/// copy-on-write works (A.1). Shared memory is.
std::uint64_t protection_bits(const Profile& profile, VmFlags flags);

/// What the entry found at `addr`, the start of its page or huge page, maps.
inline Range mapped_range(Addr addr, Pte pte) { return Range::of(addr, page_bytes(pte.size())); }

/// The software TLB forgets what the entry found at `addr` maps. A base page is the common case, and quick.
inline void forget_translation(Mm& mm, Addr addr, Pte pte) {
  if (pte.huge()) [[unlikely]] {
    mm.tlb.drop(mapped_range(addr, pte));
  } else {
    mm.tlb.drop(addr);
  }
}

/// What the kernel does before an entry lets a page be executed (__sync_icache_dcache): nothing where it did it before.
void sync_icache(Mm& mm, Pte pte);

/// Writes an entry, and keeps the software TLB and the count of page tables true.
void set_pte(Mm& mm, Addr addr, Pte pte);

/// Flushes one page or huge page at once, outside of any batch.
void flush_now(Mm& mm, Addr addr, PageSize size);

/// Drops the pages of a range inside one VMA, all or only those of an object's cache, and the guard markers or not. A
/// huge page that lies partly in it is split first. Returns the entries removed.
enum class Guarding : std::uint8_t { keep, drop };
enum class Zapped : std::uint8_t { all, cached };
std::uint64_t zap(Mm& mm, Range range, Guarding guards, FlushBatch& flush, Zapped zapped = Zapped::all);

/// Gives the VMA an anon_vma if it has none, a neighbour's where that may be shared (anon_vma_prepare).
void prepare_anon_vma(Mm& mm, Vma& vma);

}  // namespace faultline::mm
