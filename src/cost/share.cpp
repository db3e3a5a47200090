#include "cost/share.h"

namespace faultline::cost {
namespace {

bool maps(Operation operation) {
  return operation == Operation::mmap || operation == Operation::mmap_shared || operation == Operation::mmap_file;
}

bool changes_mappings(Operation operation) {
  if (maps(operation)) return true;
  switch (operation) {
    case Operation::munmap:
    case Operation::brk:
    case Operation::mremap:
      return true;
    default:
      return false;
  }
}

/// Unmaps pages and leaves the VMA.
bool empties_mappings(Operation operation) {
  return operation == Operation::madvise_dontneed || operation == Operation::madvise_guard_install;
}

bool modifies_vmas(Operation operation) {
  switch (operation) {
    case Operation::mprotect:
    case Operation::madvise_flags:
    case Operation::mlock:
    case Operation::mlock_onfault:
    case Operation::munlock:
      return true;
    default:
      return false;
  }
}

bool makes_pages(Operation operation) {
  switch (operation) {
    case Operation::access:
    case Operation::mmap:
    case Operation::mlock:
    case Operation::madvise_populate_read:
    case Operation::madvise_populate_write:
      return true;
    default:
      return false;
  }
}

Path path_of(Operation operation, Counter counter) {
  switch (counter) {
    case Counter::vmas_changed:
    case Counter::splits:
    case Counter::vmas_freed:
      if (modifies_vmas(operation)) return Path::modify;
      return changes_mappings(operation) ? Path::map : Path::own;
    case Counter::merges:
    case Counter::vmas_made:
    case Counter::bounds_moved:
    case Counter::gaps_sought:
      if (modifies_vmas(operation)) return Path::modify;
      return maps(operation) ? Path::create : Path::own;
    case Counter::ptes_scanned:
    case Counter::ptes_changed:
    case Counter::flushes_ranged:
    case Counter::flushes_full:
    case Counter::pages_flushed:
      // What flushes, zapped first, and found that it had to: a part of the call's own.
      if (operation == Operation::madvise_guard_install) return Path::own;
      // mremap counts the entries that it moves, too.
      if (operation == Operation::mremap) return Path::own;
      return changes_mappings(operation) || empties_mappings(operation) ? Path::zap : Path::own;
    case Counter::pages_unmapped:
    case Counter::gathers:
    case Counter::gather_pages:
    case Counter::file_unmapped:
    case Counter::pages_mlocked:
    case Counter::pages_dirtied:
    case Counter::tables_scanned:
      return changes_mappings(operation) || empties_mappings(operation) ? Path::zap : Path::own;
    case Counter::tables_freed:
      return changes_mappings(operation) ? Path::zap : Path::own;
    case Counter::tree_stores:
    case Counter::tree_nodes:
    case Counter::tree_reserved:
    case Counter::tree_entries:
    case Counter::tree_splits:
    case Counter::tree_joins:
    case Counter::tree_spans:
    case Counter::tree_searched:
    case Counter::tree_levels:
    case Counter::tree_gaps:
    case Counter::tree_rotations:
    case Counter::tree_walked:
    case Counter::cache_slots:
    case Counter::anon_links_made:
    case Counter::anon_links_moved:
    case Counter::anon_links_freed:
    case Counter::anon_link_levels:
    case Counter::file_links:
      return Path::tree;
    case Counter::pages_freed:  // by what unmaps it, by what copies it, or with its batch
    case Counter::lru_added:
    case Counter::lru_spared:
    case Counter::lru_batches:
    case Counter::mlock_batches:
    case Counter::mlock_moved:
    case Counter::pages_lazyfreed:
      return Path::zap;
    case Counter::tables_made:
      return makes_pages(operation) || operation == Operation::mremap ? Path::fault : Path::own;
    case Counter::pages_zeroed:
    case Counter::pages_cached:
    case Counter::pages_asked:
    case Counter::pages_around:
    case Counter::anon_vmas_made:
      return makes_pages(operation) ? Path::fault : Path::own;
    case Counter::populated:
    case Counter::pages_found:
    case Counter::pages_activated:
      return makes_pages(operation) && operation != Operation::access ? Path::fault : Path::own;
    default:
      return Path::own;
  }
}

}  // namespace

Share share_of(Operation operation, Counter counter) {
  const Path path = path_of(operation, counter);
  return path == Path::own ? Share{path, operation} : Share{path, {}};
}

}  // namespace faultline::cost
