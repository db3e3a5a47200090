#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace faultline {

/// Everything that a row counts. One list for every machine: the model fills all of it, a real kernel what it
/// shows. Adding a counter is adding a line here and one in counters.cpp.
enum class Counter : std::uint8_t {
  exceptions,    // faults taken by the processor, those that end in a signal included
  minor_faults,  // the kernel's ru_minflt: also counts faults that the kernel resolves for itself
  // Faults by kind. Each exception is of exactly one kind.
  fault_read,      // first touch by a read: the zero page is mapped
  fault_write,     // first touch by a write: a new page is mapped
  fault_file,      // first touch of a file's or of shared memory: its page is mapped
  fault_copy,      // write-protect fault, page copied
  fault_reuse,     // write-protect fault, page made writable in place
  fault_spurious,  // the page allowed the access when the kernel looked
  fault_numa,      // a NUMA hint: the entry gets its access back
  fault_nested,    // taken by the kernel while it handled another fault (arm64 instruction probe)
  fault_disabled,  // taken by the kernel with page faults disabled: not handled, its copy stops there
  fault_guard,     // hit a guard region
  fault_uffd,      // answered by the handler of a userfaultfd
  fault_signal,    // ended in a signal for any other reason
  populated,       // pages that the kernel faulted in for itself: no exception
  // Virtual memory areas.
  vma_visits,   // VMAs that a call's loops looked at
  seal_checks,  // VMAs whose seal was tested
  splits,
  merges,
  // Page table entries.
  ptes_scanned,
  ptes_changed,
  ptes_upgraded,  // made writable by mprotect itself: a write fault avoided
  pages_zeroed,
  pages_copied,
  huge_pages,   // entries that map a huge page, made by a fault or by collapsing
  huge_splits,  // huge pages whose entry was split into PTEs
  tables_made,
  tables_freed,
  flushes_ranged,
  flushes_full,
  ipis,  // interrupts sent to other processors to make them call a function: TLB shootdowns
  mmap_lock_read,
  mmap_lock_write,
  mmap_lock_downgrade,  // from writing to reading, without giving it up
  vma_lock,
  // What else a call does, which costs without being asked for: what predictions are made of.
  accesses,        // loads, stores, atomics and fetches
  vmas_made,       // VMAs allocated: new mappings, and the second halves of splits
  unmappings,      // of ranges that held a VMA, by whatever call
  vmas_freed,      // by unmapping, and by merging
  bounds_moved,    // VMAs that grew or shrank without a split
  vmas_changed,    // VMAs, or parts of them, that got other flags, whatever was split or merged for it
  vmas_checked,    // of vma_visits: those of a loop before the work, which looks for seals
  anon_vmas_made,  // first write to a VMA that shares none with a neighbour
  pages_found,     // that populating, locking, MADV_FREE or mincore looked for, and found present
  pages_missing,   // that mincore looked for in vain, in tables that exist
  pages_around,    // of a file, mapped along with the one that was touched
  pages_asked,  // of a file's cache, by faults that did not find them mapped so: first writes, new ones; and by mincore
  pages_mlocked,    // present pages of VMAs that were locked or unlocked, and locked ones that were unmapped
  pages_lazyfreed,  // moved by MADV_FREE to where they are reclaimed first: a batch at a time, as lru_added
  pages_unmapped,   // entries removed that mapped a page other than the zero page
  pages_freed,      // given back with the last of those entries
  pages_cached,     // new ones of a file or of shared memory, put into the page cache
  lru_added,  // new pages put on the LRU lists: a batch at a time, by the fault that fills it or a call that drains it
  lru_batches,    // of new or lazily freed pages that were emptied
  mlock_batches,  // of locked, or no longer locked, pages that were (5.18 on)
  mlock_moved,    // pages that these moved between lists
  lru_spared,     // pages that were freed before their batch was emptied, and never reached the lists
  guards_made,    // entries that MADV_GUARD_INSTALL made guards
  guards_found,   // that it passed because they were guards already
  tree_stores,    // into the tree of VMAs, from 6.1 on
  tree_nodes,     // of the tree of VMAs, written anew
  tree_reserved,  // set aside for a store before it is known how many it takes (6.1)
  tree_entries,   // copied into them
  tree_splits,    // stores into it for which a leaf had no room: it is split, or shares with a neighbour
  tree_joins,     // stores that left a leaf too few entries: it is joined with a neighbour, or takes some of its
  tree_spans,     // stores over several leaves
  tree_searched,  // entries of it that were looked at for a free range
  gaps_sought,    // searches for a free range
  gathers,        // unmappings that had pages to give back
  gather_pages,   // that the kernel took to remember the pages it unmaps, beyond the first eight
  pages_flushed,  // by flushes that name their pages
  tree_levels,    // of either tree of VMAs, passed in searches
  // The red-black tree of VMAs, up to 6.0, and the VMAs that were found last.
  tree_gaps,       // largest gaps computed again
  tree_rotations,  // and recolourings
  tree_walked,     // VMAs passed in search of a gap
  cache_slots,     // looked at before the tree is
  // Links between VMAs and the anon_vmas that their pages may belong to.
  anon_links_made,
  anon_links_moved,  // out of their trees and in again, as bounds move
  anon_links_freed,
  anon_link_levels,  // of those trees that are passed for it
  pages_activated,   // that populating touched for the second time
  tables_scanned,    // page tables whose entries were scanned
  file_unmapped,     // of pages_unmapped: pages of a file or of shared memory
  pages_dirtied,     // of a file or of shared memory: unmapped, and written to through the entry
  pages_synced,      // made visible to the instruction cache before an entry first lets them be executed
  ptes_refused,      // that mprotect looked at to make them writable, and did not
  file_links,  // mappings that entered or left the trees of their files, as VMAs were copied, freed or got other bounds
  vmas_moved,  // copied to another address, whole or in part, by mremap
  count_,
};
inline constexpr std::size_t kCounters = std::to_underlying(Counter::count_);

using CounterSet = std::bitset<kCounters>;

/// The name used in programs, JSON and tables: the enumerator as spelled above.
std::string_view counter_name(Counter counter);
/// What it counts, for a reader of a table.
std::string_view counter_title(Counter counter);
std::optional<Counter> counter_named(std::string_view name);

/// One value per counter; differences and sums are taken element by element.
struct Counters {
  std::array<std::uint64_t, kCounters> values{};

  constexpr std::uint64_t& operator[](Counter c) { return values[std::to_underlying(c)]; }
  constexpr std::uint64_t operator[](Counter c) const { return values[std::to_underlying(c)]; }
  constexpr Counters& operator+=(const Counters& other) {
    for (std::size_t i = 0; i < kCounters; ++i) values[i] += other.values[i];
    return *this;
  }
  constexpr Counters& operator-=(const Counters& other) {
    for (std::size_t i = 0; i < kCounters; ++i) values[i] -= other.values[i];
    return *this;
  }
  friend constexpr Counters operator-(Counters a, const Counters& b) { return a -= b; }
  bool operator==(const Counters&) const = default;
};

}  // namespace faultline
