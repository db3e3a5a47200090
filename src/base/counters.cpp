#include "base/counters.h"

namespace faultline {
namespace {

struct Names {
  std::string_view name;
  std::string_view title;
};
constexpr auto kCounterNames = std::to_array<Names>({
    {"exceptions", "faults, as exceptions"},
    {"minor_faults", "faults, as ru_minflt"},
    {"fault_read", "faults, first touch by a read"},
    {"fault_write", "faults, first touch by a write"},
    {"fault_file", "faults, page of a file or of shared memory"},
    {"fault_copy", "faults, page copied"},
    {"fault_reuse", "faults, write upgrade in place"},
    {"fault_spurious", "faults, spurious"},
    {"fault_numa", "faults, NUMA hint"},
    {"fault_nested", "faults, nested in another"},
    {"fault_disabled", "faults, with page faults disabled"},
    {"fault_guard", "faults, guard region"},
    {"fault_uffd", "faults, answered by a userfaultfd's handler"},
    {"fault_signal", "faults that end in a signal"},
    {"populated", "pages populated by the kernel"},
    {"vma_visits", "VMAs visited"},
    {"seal_checks", "seal checks"},
    {"splits", "VMA splits"},
    {"merges", "VMA merges"},
    {"ptes_scanned", "PTEs scanned"},
    {"ptes_changed", "PTEs changed"},
    {"ptes_upgraded", "PTEs made writable by mprotect"},
    {"pages_zeroed", "pages zeroed"},
    {"pages_copied", "pages copied"},
    {"huge_pages", "huge pages mapped"},
    {"huge_splits", "huge pages split"},
    {"tables_made", "page tables made"},
    {"tables_freed", "page tables freed"},
    {"flushes_ranged", "TLB flushes, ranged"},
    {"flushes_full", "TLB flushes, full"},
    {"ipis", "IPIs to other processors"},
    {"mmap_lock_read", "mmap_lock taken for reading"},
    {"mmap_lock_write", "mmap_lock taken for writing"},
    {"mmap_lock_downgrade", "mmap_lock downgraded to reading"},
    {"vma_lock", "per-VMA lock taken"},
    {"accesses", "accesses"},
    {"vmas_made", "VMAs allocated"},
    {"unmappings", "ranges unmapped"},
    {"vmas_freed", "VMAs freed"},
    {"bounds_moved", "VMA bounds moved"},
    {"vmas_changed", "VMAs given other flags"},
    {"vmas_checked", "VMAs checked before the work"},
    {"anon_vmas_made", "anon_vmas made"},
    {"pages_found", "pages found present"},
    {"pages_missing", "pages found missing"},
    {"pages_around", "pages mapped around a fault"},
    {"pages_asked", "pages that a file was asked for"},
    {"pages_mlocked", "pages locked or unlocked"},
    {"pages_lazyfreed", "pages marked by MADV_FREE"},
    {"pages_unmapped", "pages unmapped"},
    {"pages_freed", "pages freed"},
    {"pages_cached", "pages added to the page cache"},
    {"lru_added", "pages put on the LRU lists"},
    {"lru_batches", "batches of pages emptied into the lists"},
    {"mlock_batches", "batches of locked pages emptied"},
    {"mlock_moved", "pages moved for being locked, or no longer"},
    {"lru_spared", "pages freed on the way to the LRU lists"},
    {"guards_made", "guards installed"},
    {"guards_found", "guards found in place"},
    {"tree_stores", "stores into the tree of VMAs"},
    {"tree_nodes", "nodes written of the tree of VMAs"},
    {"tree_reserved", "tree nodes set aside"},
    {"tree_entries", "entries copied in the tree of VMAs"},
    {"tree_splits", "stores that split a node of the tree of VMAs"},
    {"tree_joins", "stores that join nodes of the tree of VMAs"},
    {"tree_spans", "stores over several nodes of the tree of VMAs"},
    {"tree_searched", "entries of the tree of VMAs searched for a gap"},
    {"gaps_sought", "searches for a gap"},
    {"gathers", "unmappings with pages to give back"},
    {"gather_pages", "pages taken to gather pages"},
    {"pages_flushed", "pages flushed by name"},
    {"tree_levels", "levels searched of the tree of VMAs"},
    {"tree_gaps", "gaps computed in the tree of VMAs"},
    {"tree_rotations", "rotations of the tree of VMAs"},
    {"tree_walked", "VMAs passed in search of a gap"},
    {"cache_slots", "slots searched of cached VMAs"},
    {"anon_links_made", "links to anon_vmas made"},
    {"anon_links_moved", "links to anon_vmas moved"},
    {"anon_links_freed", "links to anon_vmas freed"},
    {"anon_link_levels", "levels passed in trees of links to anon_vmas"},
    {"pages_activated", "pages activated"},
    {"tables_scanned", "page tables scanned"},
    {"file_unmapped", "pages of files unmapped"},
    {"pages_dirtied", "pages of files dirtied by entries that go"},
    {"pages_synced", "pages synced with the instruction cache"},
    {"ptes_refused", "PTEs not made writable by mprotect"},
    {"file_links", "changes of files' trees of mappings"},
    {"vmas_moved", "VMAs moved"},
});
static_assert(kCounterNames.size() == kCounters);

}  // namespace

std::string_view counter_name(Counter counter) { return kCounterNames[std::to_underlying(counter)].name; }
std::string_view counter_title(Counter counter) { return kCounterNames[std::to_underlying(counter)].title; }

std::optional<Counter> counter_named(std::string_view name) {
  for (std::size_t i = 0; i < kCounterNames.size(); ++i) {
    if (kCounterNames[i].name == name) return static_cast<Counter>(i);
  }
  return std::nullopt;
}

}  // namespace faultline
