#include "mm/page_lists.h"

namespace faultline::mm {
namespace {

bool batches_locked_pages(const Mm& mm) { return mm.profile().mlock_pages == MlockPages::batched; }

void empty_lru_add(Mm& mm) {
  const PageBatch::Emptied emptied = mm.system.lru_add().empty(mm.frames());
  mm.count(Counter::lru_added, emptied.pages - emptied.dead);
  mm.count(Counter::lru_spared, emptied.dead);
  mm.count(Counter::lru_batches, emptied.pages != 0 ? 1 : 0);
}

void empty_lru_lazyfree(Mm& mm) {
  const PageBatch::Emptied emptied = mm.system.lru_lazyfree().empty(mm.frames());
  mm.count(Counter::pages_lazyfreed, emptied.pages);
  mm.count(Counter::pages_freed, emptied.dead);
  mm.count(Counter::lru_batches, emptied.pages != 0 ? 1 : 0);
}

void empty_mlock(Mm& mm) {
  const MlockBatch::Emptied emptied = mm.system.mlock_batch().empty(mm.frames());
  mm.count(Counter::mlock_moved, emptied.moved);
  mm.count(Counter::pages_freed, emptied.dead);
  mm.count(Counter::mlock_batches, emptied.pages != 0 ? 1 : 0);
}

/// A large folio does not wait.
void empty_mlock_if_full(Mm& mm, FrameId last) {
  if (mm.system.mlock_batch().size() == mm.profile().lru_batch || mm.frames().is_large(last)) empty_mlock(mm);
}

void wait_with_locked(Mm& mm, FrameId page, MlockBatch::Moves moves) {
  if (!batches_locked_pages(mm)) return;
  mm.system.mlock_batch().add(page, moves);
  empty_mlock_if_full(mm, page);
}

}  // namespace

void add_to_lru(Mm& mm, FrameId page) {
  mm.system.lru_add().add(mm.frames(), page);
  if (mm.system.lru_add().size() == mm.profile().lru_batch) empty_lru_add(mm);
}

void add_new_page(Mm& mm, const Vma& vma, FrameId page) {
  if (vma.is(VmFlags::locked)) mm.frames().at(page).set_mlocked(Mlocked::yes);
  if (!vma.is(VmFlags::locked) || !batches_locked_pages(mm)) return add_to_lru(mm, page);
  mm.system.mlock_batch().add_new(mm.frames(), page);
  empty_mlock_if_full(mm, page);
}

void add_to_lazyfree(Mm& mm, FrameId page) {
  mm.system.lru_lazyfree().add(mm.frames(), page);
  if (mm.system.lru_lazyfree().size() == mm.profile().lru_batch) empty_lru_lazyfree(mm);
}

bool lockable(Mm& mm, Pte pte) { return !pte.zero_page() && (pte.huge() || !mm.frames().is_large(pte.frame())); }

void lock_page(Mm& mm, FrameId page) {
  Frame& frame = mm.frames().at(page);
  const bool locked = frame.mlocked() == Mlocked::yes;
  mm.count(Counter::pages_mlocked);
  frame.set_mlocked(Mlocked::yes);
  wait_with_locked(mm, page, locked ? MlockBatch::Moves::no : MlockBatch::Moves::yes);
}

void unlock_page(Mm& mm, FrameId page) {
  Frame& frame = mm.frames().at(page);
  // Whoever else maps a page of a file is taken to have locked it, too.
  const bool still_locked = frame.cached() && frame.mappings() > 1;
  mm.count(Counter::pages_mlocked);
  if (!still_locked) frame.set_mlocked(Mlocked::no);
  wait_with_locked(mm, page, still_locked ? MlockBatch::Moves::no : MlockBatch::Moves::yes);
}

void drop_mapping(Mm& mm, FrameId page, PageSize size) {
  const std::uint64_t live = mm.frames().live();
  const bool waits = mm.frames().at(page).on_batch() == OnBatch::yes;
  mm.frames().unmap(page, size);
  const std::uint64_t freed = live - mm.frames().live();
  if (freed == 0) return;
  if (waits && (mm.system.lru_add().bury(page) || mm.system.lru_lazyfree().bury(page))) return;
  if (mm.system.mlock_batch().bury(page)) return;
  mm.count(Counter::pages_freed, freed);
}

void drain_lru(Mm& mm) {
  empty_lru_add(mm);
  empty_lru_lazyfree(mm);
  empty_mlock(mm);
}

}  // namespace faultline::mm
