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

/// Moves a huge page whole where it fits at the new address, else splits it. False where the piece has none now.
bool move_huge(Mm& mm, Range piece, Addr to, UffdWp protection) {
  if (!mm.table.get(piece.start).huge()) return false;
  const bool whole = piece.bytes() == kHugeBytes;
  const std::uint64_t made_before = mm.table.tables_made();
  const bool moved = whole && mm.table.move_huge(piece.start, to);
  if (moved) {
    const Pte huge = mm.table.get(to).with(Pte::kSoftDirty);
    mm.table.set(to, protection == UffdWp::goes ? huge.without(Pte::kUffdWp) : huge);
  }
  mm.count(Counter::tables_made, mm.table.tables_made() - made_before);
  if (!moved) {
    split_huge(mm, piece.start);
    return false;
  }
  mm.count(Counter::ptes_scanned);
  mm.count(Counter::ptes_changed);
  mm.tlb.drop(piece);
  flush_now(mm, piece.start, PageSize::huge);
  return true;
}

}  // namespace

void move_pages(Mm& mm, Range source, Addr target, UffdWp protection) {
  for (Addr at = source.start; at < source.end;) {
    const Addr to = target + (at - source.start);
    const Range piece{at, piece_end(source, at, to)};
    if (move_huge(mm, piece, to, protection)) {
      at = piece.end;
      continue;
    }
    // A table that moves as a whole takes its entries along unseen.
    const bool with_table = piece.bytes() == kHugeBytes && !mm.table.has_table(to) && protection == UffdWp::stays;
    std::vector<std::pair<Addr, Pte>> moved;
    bool present = false;
    mm.count(Counter::ptes_scanned, mm.table.update(piece, [&](Addr from, Pte pte) {
      if (pte.none()) return pte;
      Pte there = pte.present() && !with_table ? pte.with(Pte::kSoftDirty) : pte;
      if (protection == UffdWp::goes) there = there.without(Pte::kUffdWp);
      if (!there.none()) moved.emplace_back(to + (from - piece.start), there);
      mm.tlb.drop(from);
      present |= pte.present();
      mm.scattered_folios |= pte.present() && mm.frames().is_large(pte.frame());
      return Pte{};
    }));
    for (const auto& [addr, pte] : moved) set_pte(mm, addr, pte);
    mm.count(Counter::ptes_changed, moved.size());
    if (present) {
      FlushBatch flush(mm);
      flush.add(piece);
      flush.perform();
    }
    at = piece.end;
  }
}

}  // namespace faultline::mm
