#include "mm/mm.h"

#include <utility>

#include "mm/huge.h"
#include "mm/merge.h"
#include "mm/page_lists.h"
#include "mm/soft_dirty.h"
#include "mm/userfaultfd.h"

namespace faultline::mm {
namespace {

Range space_for_mappings(const System& system) {
  return {Addr{page_ceil(system.tunables().mmap_min_addr)}, arch::geometry(system.profile().arch).mmap_base};
}

/// The page learns from an entry that goes whether it was written to, and that it may be locked no more.
void unmap_page(Mm& mm, const Vma& vma, Pte pte) {
  if (pte.zero_page()) return;
  Frame& frame = mm.frames().at(pte.frame());
  if (frame.cached()) {
    if (pte.dirty()) {
      frame.set_dirty();
      mm.count(Counter::pages_dirtied);
    }
    mm.count(Counter::file_unmapped);
  }
  mm.count(Counter::pages_unmapped);
  if (vma.is(VmFlags::locked) && lockable(mm, pte)) unlock_page(mm, pte.frame());
  drop_mapping(mm, pte.frame(), pte.size());
}

}  // namespace

Range Mm::placement_space() const { return space_for_mappings(system); }

Mm::Mm(System& owner)
    : system(owner),
      vmas(space_for_mappings(owner)),
      brk_start(arch::geometry(owner.profile().arch).brk_base),
      brk(brk_start),
      pkeys(initial_pkeys(owner.profile())) {
  system.add_space(this);
}

Mm::Mm(System& owner, const Mm& parent)
    : system(owner),
      vmas(parent.vmas),
      brk_start(parent.brk_start),
      brk(parent.brk),
      limits(parent.limits),
      pkeys(parent.pkeys),
      pkru(parent.pkru) {
  if (!has(parent.mdwe, DenyWriteExec::no_inherit)) mdwe = parent.mdwe;
  has_numa_hints = parent.has_numa_hints;
  scattered_folios = parent.scattered_folios;
  system.add_space(this);
}

Mm::~Mm() {
  system.remove_space(this);
  for (Userfaultfd* uffd : uffds) {
    if (uffd != nullptr) uffd->orphan();
  }
  vmas.each({Addr{0}, geometry().task_size}, [&](const Vma& vma) {
    if (vma.is(VmFlags::account)) system.commit().give_back(vma.pages());
  });
  if (profile().lru_drain != LruDrain::populating) drain_lru(*this);
  vmas.each({Addr{0}, geometry().task_size}, [&](const Vma& vma) {
    table.each(vma.range(), [&](Range, Pte pte) {
      if (pte.present()) unmap_page(*this, vma, pte);
    });
  });
}

std::unexpected<Errno> Mm::refuse(int error, Rule rule, Range range) {
  explain([&] { return Event{.kind = EventKind::refused, .range = range, .rule = rule, .error = error}; });
  return fail(error);
}

std::uint64_t protection_bits(const Profile& profile, VmFlags flags) {
  if (!has(flags, VmFlags::access)) return 0;
  std::uint64_t bits = has(flags, VmFlags::exec) ? Pte::kExec : 0;
  const bool execute_only = profile.exec_only == ExecOnly::epan && (flags & VmFlags::access) == VmFlags::exec;
  if (!execute_only) bits |= Pte::kRead;
  bits |= Pte::key_bits(pkey_of(flags));
  // Shared memory has no copy to make, and these files do not count who dirties them (A.4).
  if (has(flags, VmFlags::shared) && has(flags, VmFlags::write) && !wants_write_notify(profile, flags)) {
    bits |= Pte::kWrite;
  }
  return bits;
}

void sync_icache(Mm& mm, Pte pte) {
  if (mm.profile().icache == Icache::coherent || !pte.present() || !pte.has(Pte::kExec) || pte.zero_page()) return;
  Frame& folio = mm.frames().at(mm.frames().head(pte.frame()));
  if (folio.synced()) return;
  folio.set_synced();
  mm.count(Counter::pages_synced, mm.frames().is_large(pte.frame()) ? kHugePages : 1);
}

void set_pte(Mm& mm, Addr addr, Pte pte) {
  sync_icache(mm, pte);
  const std::uint64_t before = mm.table.tables_made();
  mm.table.set(addr, pte);
  mm.count(Counter::tables_made, mm.table.tables_made() - before);
  forget_translation(mm, addr, pte);
}

void flush_now(Mm& mm, Addr addr, PageSize size) {
  FlushBatch flush(mm);
  flush.add(Range::of(addr, page_bytes(size)), size);
  flush.perform();
}

std::uint64_t zap(Mm& mm, Range range, Guarding guards, FlushBatch& flush, Zapped zapped) {
  if (mm.profile().lru_drain != LruDrain::populating) drain_lru(mm);
  split_huge_ends(mm, range);
  mm.tlb.drop(range);
  std::uint64_t removed = 0;
  // The page of a file comes back, and is to be as protected as before.
  const Vma& vma = *mm.vmas.at(range.start);
  const bool keeps_protection = guards == Guarding::keep && vma.is(VmFlags::uffd_wp) && vma.object != nullptr;
  const std::uint64_t tables_before = mm.table.tables_freed();
  const std::uint64_t looked_into = mm.table.tables_scanned();
  const std::uint64_t scanned = mm.table.update(range, [&](Addr at, Pte pte) {
    if (pte.guard() || pte.uffd_marker()) {
      if (guards == Guarding::keep && (pte.guard() || keeps_protection)) return pte;
      ++removed;
      return Pte{};
    }
    if (!pte.present()) return pte;
    if (zapped == Zapped::cached && !mm.frames().at(pte.frame()).cached()) return pte;
    unmap_page(mm, vma, pte);
    if (!pte.zero_page()) flush.gather();
    flush.add(mapped_range(at, pte), pte.size());
    ++removed;
    return keeps_protection && pte.uffd_wp() ? Pte::uffd_wp_marker() : Pte{};
  });
  mm.count(Counter::ptes_scanned, scanned);
  mm.count(Counter::tables_scanned, mm.table.tables_scanned() - looked_into);
  mm.count(Counter::ptes_changed, removed);
  mm.count(Counter::tables_freed, mm.table.tables_freed() - tables_before);
  return removed;
}

void prepare_anon_vma(Mm& mm, Vma& vma) {
  if (vma.anon_vma != 0) return;
  // The upper neighbour first, then the lower one, so that a later mprotect can merge what it has split.
  if (const Vma* next = mm.vmas.next(vma); next != nullptr && can_share_anon_vma(vma, *next, *next)) {
    vma.anon_vma = next->anon_vma;
  } else if (const Vma* prev = mm.vmas.prev(vma); prev != nullptr && can_share_anon_vma(*prev, vma, *prev)) {
    vma.anon_vma = prev->anon_vma;
  } else {
    vma.anon_vma = mm.system.next_anon_vma();
    mm.count(Counter::anon_vmas_made);
  }
  vma.chain = 1;
}

void FlushBatch::gather() {
  // A list of eight entries on the stack, then of 510 in each page.
  const std::uint64_t on_stack = 8 - mm_.profile().gather_spared;
  const std::uint64_t in_page = 510 - mm_.profile().gather_spared;
  if (++gathered_ == 1) mm_.count(Counter::gathers);
  if (gathered_ >= on_stack && (gathered_ - on_stack) % in_page == 0) mm_.count(Counter::gather_pages);
}

void FlushBatch::end_vma() {
  if (mm_.profile().arch == arch::Arch::arm64 && !pending_.empty()) flush();
}

void FlushBatch::free_gathered() {
  gathered_ = 0;
  // What was unmapped for being locked waits with those, and would not be freed yet (free_pages_and_swap_cache).
  if (mm_.profile().lru_drain != LruDrain::populating) drain_lru(mm_);
}

void FlushBatch::flush() {
  const bool full = pending_.bytes() / page_bytes(stride_) > mm_.geometry().flush_ceiling_pages;
  const Counter counter = full ? Counter::flushes_full : Counter::flushes_ranged;
  mm_.count(counter);
  if (!full) mm_.count(Counter::pages_flushed, pending_.bytes() / page_bytes(stride_));
  mm_.explain([&] { return Event{.kind = EventKind::flush, .range = pending_, .counter = counter}; });
  pending_ = {};
}

}  // namespace faultline::mm
