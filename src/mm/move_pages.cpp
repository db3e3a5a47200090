#include "mm/move_pages.h"

#include <vector>

#include "mm/huge.h"

namespace faultline::mm {
namespace {

/// The end of the piece that one step moves: no table boundary lies inside it, at neither address.
Addr piece_end(Range source, Addr at, Addr target) {
  constexpr std::uint64_t kSpan = std::uint64_t{1} << entry_shift(Level::pmd);
  const auto to_boundary = [](Addr addr) { return kSpan - (addr.value & (kSpan - 1)); };
  return std::min(source.end, at + std::min(to_boundary(at), to_boundary(target)));
}

/// The source as the kernel walks it: from the beginning of its first table on, where that moves whole with it.
Range walked(const Mm& mm, Range source, Addr target) {
  const auto in_table = [](Addr addr) { return addr.value & (kHugeBytes - 1); };
  const std::uint64_t below = in_table(source.start);
  const auto alone = [&](Addr start) {
    return mm.vmas.at(start)->start == start && mm.vmas.first_in({huge_floor(start), start}) == nullptr;
  };
  const bool widens = mm.profile().remap_tables == RemapTables::widened && below == in_table(target) &&
                      source.bytes() >= kHugeBytes - below && alone(source.start) && alone(target);
  return widens ? Range{huge_floor(source.start), source.end} : source;
}

/// Moves what one entry of a PMD stands for, a huge page or a table of PTEs. False where it does not fit whole at the
/// new address.
bool move_whole(Mm& mm, Range piece, Addr to) {
  const std::uint64_t made_before = mm.table.tables_made();
  const bool moved = piece.bytes() == kHugeBytes && mm.table.move_table(piece.start, to);
  mm.count(Counter::tables_made, mm.table.tables_made() - made_before);
  if (!moved) return false;
  mm.count(Counter::ptes_scanned);
  mm.count(Counter::ptes_changed);
  mm.tlb.drop(piece);
  flush_now(mm, piece.start, PageSize::huge);
  return true;
}

/// Moves a huge page whole where that can be, else splits it. False where the piece has none now.
bool move_huge(Mm& mm, Range piece, Addr to, UffdWp protection) {
  if (!mm.table.get(piece.start).huge()) return false;
  if (!move_whole(mm, piece, to)) {
    split_huge(mm, piece.start);
    return false;
  }
  const Pte huge = mm.table.get(to).with(Pte::kSoftDirty);
  mm.table.set(to, protection == UffdWp::goes ? huge.without(Pte::kUffdWp) : huge);
  return true;
}

/// Moves the entries of a table one by one. Where there is a table, the target gets one, whatever is in it.
void move_entries(Mm& mm, Range piece, Addr to, UffdWp protection) {
  set_pte(mm, to, mm.table.get(to));
  std::vector<std::pair<Addr, Pte>> moved;
  bool present = false;
  mm.count(Counter::ptes_scanned, mm.table.update(piece, [&](Addr from, Pte pte) {
    if (pte.none()) return pte;
    // Markers are marked as moved, too.
    const Pte there = pte.with(Pte::kSoftDirty);
    const bool goes = protection == UffdWp::goes;
    if (!goes || !pte.uffd_marker()) {
      moved.emplace_back(to + (from - piece.start), goes ? there.without(Pte::kUffdWp) : there);
    }
    mm.tlb.drop(from);
    present |= pte.present();
    mm.scattered_folios |= pte.present() && mm.frames().is_large(pte.frame());
    return Pte{};
  }));
  for (const auto& [addr, pte] : moved) set_pte(mm, addr, pte);
  mm.count(Counter::ptes_changed, moved.size());
  if (!present) return;
  FlushBatch flush(mm);
  flush.add(piece);
  flush.perform();
}

}  // namespace

void move_pages(Mm& mm, Range source, Addr target, UffdWp protection) {
  const Range range = walked(mm, source, target);
  for (Addr at = range.start; at < range.end;) {
    const Addr to = target + (at - source.start);
    const Range piece{at, piece_end(range, at, to)};
    at = piece.end;
    if (move_huge(mm, piece, to, protection) || !mm.table.has_table(piece.start)) continue;
    // What is in a table that moves whole goes along unseen.
    if (protection == UffdWp::stays && move_whole(mm, piece, to)) continue;
    move_entries(mm, piece, to, protection);
  }
}

}  // namespace faultline::mm
