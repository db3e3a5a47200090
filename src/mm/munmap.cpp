// munmap(2): D.4, C.3.
#include "mm/anon_vma_chain.h"
#include "mm/calls.h"
#include "mm/merge.h"
#include "mm/seal.h"

namespace faultline::mm {
namespace {

/// Splits the VMAs at both ends of the range and tests every seal, before anything goes. A split at the start stays
/// when a later VMA refuses.
Result<Vma*> gather(Mm& mm, Vma* first, Range range) {
  if (range.start > first->start) {
    // One VMA becomes two around a hole: that alone may not exceed the limit.
    if (range.end < first->end && mm.vmas.size() >= mm.system.tunables().max_map_count) {
      return mm.refuse(ENOMEM, Rule::map_count_limit, first->range());
    }
    if (auto sealed = check_seal_in_loop(mm, *first); !sealed) {
      visit_vma(mm);
      return std::unexpected(sealed.error());
    }
    first = split_unchecked(mm, first, range.start, NewPart::upper);
  }
  mm.vmas.sought(range.end);
  for (Vma* vma = first; vma != nullptr && vma->start < range.end; vma = mm.vmas.next(*vma)) {
    visit_vma(mm);
    if (auto sealed = check_seal_in_loop(mm, *vma); !sealed) return std::unexpected(sealed.error());
    if (range.end < vma->end) split_unchecked(mm, vma, range.end, NewPart::lower);
  }
  return first;
}

}  // namespace

Result<void> prepare_unmap(Mm& mm, Range range) {
  Vma* first = mm.vmas.first_in(range);
  if (first == nullptr || range.empty()) return {};
  if (auto sealed = check_seals_upfront(mm, range); !sealed) return sealed;
  if (const Result<Vma*> gathered = gather(mm, first, range); !gathered) return std::unexpected(gathered.error());
  return {};
}

namespace {

/// The VMAs are out of the tree; giving the pages back needs no more than to keep others from changing it.
void downgrade(Mm& mm, const Vma& last) {
  const Vma* next = mm.vmas.next(last);
  const bool could_grow = next != nullptr && next->is(VmFlags::grows_down);
  if (could_grow && mm.profile().unmap_lock == UnmapLock::read_unless_below_stack) return;
  mm.count(Counter::mmap_lock_downgrade);
}

}  // namespace

Result<void> unmap_range(Mm& mm, Range range, UnmapEnd end) {
  Vma* first = mm.vmas.first_in(range);
  mm.vmas.sought(range.start, first == nullptr ? Lookup::alone : Lookup::with_previous);
  if (first == nullptr || range.empty()) return {};
  if (auto sealed = check_seals_upfront(mm, range); !sealed) return sealed;
  const Result<Vma*> gathered = gather(mm, first, range);
  if (!gathered) return std::unexpected(gathered.error());

  mm.count(Counter::unmappings);
  FlushBatch flush(mm);
  Range removed{(*gathered)->start, (*gathered)->end};
  for (Vma* vma = *gathered; vma != nullptr && vma->start < range.end;) {
    zap(mm, vma->range(), Guarding::drop, flush);
    flush.end_vma();
    removed.end = vma->end;
    mm.usage.remove(vma->flags, vma->pages());
    if (vma->is(VmFlags::account)) mm.system.commit().give_back(vma->pages());
    Vma* next = mm.vmas.next(*vma);
    if (end == UnmapEnd::reading && (next == nullptr || next->start >= range.end)) downgrade(mm, *vma);
    count_links(mm, *vma, Links::freed);
    mm.vmas.erase(vma);
    mm.count(Counter::vmas_freed);
    vma = next;
  }
  // A table goes when no neighbour can need it.
  const Vma* prev = mm.vmas.before(removed.start);
  const Vma* next = mm.vmas.find(removed.end);
  const std::uint64_t tables_before = mm.table.tables_freed();
  mm.table.free_tables(removed, prev != nullptr ? prev->end : Addr{0},
                       next != nullptr ? next->start : mm.geometry().task_size);
  const std::uint64_t freed = mm.table.tables_freed() - tables_before;
  mm.count(Counter::tables_freed, freed);
  if (freed != 0) flush.add(removed);
  flush.perform();
  return {};
}

Result<void> do_munmap(Mm& mm, Addr start, std::uint64_t length) {
  const std::uint64_t task_size = mm.geometry().task_size.value;
  const std::uint64_t bytes = page_ceil(length);
  if (!start.page_aligned() || start.value > task_size || length > task_size - start.value || bytes == 0) {
    return mm.refuse(EINVAL, Rule::bad_argument, Range::of(start, 0));
  }
  mm.count(Counter::mmap_lock_write);
  return unmap_range(mm, Range::of(start, bytes), UnmapEnd::reading);
}

}  // namespace faultline::mm
