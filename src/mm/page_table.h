#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <memory>

#include "base/page.h"
#include "mm/pte.h"

namespace faultline::mm {

/// The levels of a four-level table, lowest first. The level is a type parameter, so that mixing levels does not
/// compile.
enum class Level : std::uint8_t { pte, pmd, pud, pgd };

inline constexpr unsigned kTableBits = 9;
inline constexpr std::size_t kTableEntries = std::size_t{1} << kTableBits;

/// log2 of the bytes that one entry of a level covers: 12 for a PTE, 21 for a PMD.
constexpr unsigned entry_shift(Level level) { return kPageShift + kTableBits * static_cast<unsigned>(level); }
constexpr std::size_t entry_index(Level level, Addr addr) {
  return (addr.value >> entry_shift(level)) & (kTableEntries - 1);
}
constexpr Level below(Level level) { return static_cast<Level>(static_cast<unsigned>(level) - 1); }

/// A table of one level: entries are the tables of the level below, and PTEs at the lowest.
template <Level L>
struct Table {
  std::array<std::unique_ptr<Table<below(L)>>, kTableEntries> entries;
  std::uint32_t used = 0;
};
template <>
struct Table<Level::pte> {
  std::array<Pte, kTableEntries> entries;
  std::uint32_t used = 0;  // entries that are not none
};
/// A PMD points to a table, or maps a huge page: then its table is the empty one that was deposited for a later split.
template <>
struct Table<Level::pmd> {
  std::array<std::unique_ptr<Table<Level::pte>>, kTableEntries> entries;
  std::array<Pte, kTableEntries> huge;
  std::uint32_t used = 0;
};
using PteTable = Table<Level::pte>;
using PmdTable = Table<Level::pmd>;

/// A process's page tables. Tables are made on demand and freed by free_tables() and free_empty_table(), as the kernel
/// does; a huge page has one too, which is freed with it.
class PageTable {
 public:
  /// The entry that maps an address, none where nothing does. Of a huge page it is the part that maps this very page,
  /// with kHuge set.
  Pte get(Addr addr) const;
  /// Writes the entry at this address, of the level that `pte` belongs to, making tables on the way. No huge page maps
  /// the address when a PTE is written, and no table when a huge page is mapped first.
  void set(Addr addr, Pte pte);
  /// Does any huge page have an entry? Where none has, nothing needs to be split.
  bool has_huge() const { return huge_entries_ != 0; }
  /// Is there a table of PTEs for the address (pmd_none, when there is no huge page either)?
  bool has_table(Addr addr) const { return leaf(addr) != nullptr; }
  /// Is there a table of the level above it (pud_present)?
  bool has_pmd_table(Addr addr) const { return pmd_table(addr) != nullptr; }

  /// Replaces a huge page's entry by 512 PTEs in the table that was deposited; `first` maps the first page.
  void split_huge(Addr addr, Pte first);
  /// Replaces a table of PTEs by a huge page's entry; the table becomes the deposited one. The entries are none.
  void collapse(Addr addr, Pte huge);
  /// Moves the table of PTEs at an aligned address, or a huge page's entry and its table with it, to an aligned address
  /// where neither is. False where one is.
  bool move_table(Addr from, Addr to);
  /// Frees the table of PTEs at the address if all its entries are none.
  void free_empty_table(Addr addr);

  /// Calls `visit(addr, entry)` for every entry, none or not, of every existing table under the range, and for every
  /// huge page in it, and stores what it returns. The kernel's walks do the same: they step over missing tables and
  /// look at each entry of the others. A huge page that lies partly in the range is
  /// stepped over. Returns the entries looked at.
  template <class Visit>
  std::uint64_t update(Range range, Visit&& visit);
  /// Calls `visit(part, entry)` for entries that are not none, without storing: `part` is what of the range the entry
  /// maps, and `entry` belongs to its first page.
  template <class Visit>
  void each(Range range, Visit&& visit) const;

  /// Frees the tables that lie under `range` and cannot serve any address in [floor, ceiling) outside of it
  /// (free_pgtables). All their entries are none by then.
  void free_tables(Range range, Addr floor, Addr ceiling);

  /// Tables that exist below the top one; those ever made, and ever freed.
  std::uint64_t tables() const { return tables_made_ - tables_freed_; }
  std::uint64_t tables_made() const { return tables_made_; }
  std::uint64_t tables_freed() const { return tables_freed_; }
  /// Tables of PTEs that update() looked into, ever.
  std::uint64_t tables_scanned() const { return tables_scanned_; }

 private:
  PteTable* leaf(Addr addr) const;
  PmdTable* pmd_table(Addr addr) const;
  PmdTable& make_pmd_table(Addr addr);
  PteTable& make_leaf(PmdTable& pmds, Addr addr);
  void drop_leaf(PmdTable& pmds, std::size_t index);

  /// Calls `visit_table(PteTable, part)` and `visit_huge(PmdTable, index, part)` for what exists under the range.
  template <Level L, class TableRef, class VisitTable, class VisitHuge>
  static void leaves(TableRef& table, Range range, VisitTable&& visit_table, VisitHuge&& visit_huge);
  template <Level L>
  void free_under(Table<L>& table, Range range, Addr floor, Addr ceiling);

  Table<Level::pgd> top_;
  std::uint64_t tables_made_ = 0;
  std::uint64_t tables_freed_ = 0;
  std::uint64_t tables_scanned_ = 0;
  std::uint64_t huge_entries_ = 0;
  // The leaf that was used last; accesses come in runs.
  mutable PteTable* last_leaf_ = nullptr;
  mutable std::uint64_t last_leaf_tag_ = 0;
};

template <Level L, class TableRef, class VisitTable, class VisitHuge>
void PageTable::leaves(TableRef& table, Range range, VisitTable&& visit_table, VisitHuge&& visit_huge) {
  constexpr std::uint64_t span = std::uint64_t{1} << entry_shift(L);
  for (Addr at = range.start; at < range.end;) {
    const Addr entry_start{at.value & ~(span - 1)};
    const Range part = range.intersect(Range::of(entry_start, span));
    const std::size_t index = entry_index(L, at);
    if (const auto& child = table.entries[index]) {
      if constexpr (L == Level::pmd) {
        if (table.huge[index].none()) {
          visit_table(*child, part);
        } else {
          visit_huge(table, index, part);
        }
      } else {
        leaves<below(L)>(*child, part, visit_table, visit_huge);
      }
    }
    at = part.end;
  }
}

template <class Visit>
std::uint64_t PageTable::update(Range range, Visit&& visit) {
  std::uint64_t scanned = 0;
  // One place that visits, so that the compiler puts the visitor into the loop.
  const auto visit_entries = [&](Pte* entry, std::uint64_t count, Addr at) {
    scanned += count;
    std::uint32_t filled = 0;
    for (; count > 0; --count, ++entry, at = at + kPageSize) {
      const Pte changed = visit(at, *entry);
      filled += static_cast<std::uint32_t>(entry->none()) - static_cast<std::uint32_t>(changed.none());
      *entry = changed;
    }
    return filled;
  };
  const auto visit_table = [&](PteTable& table, Range part) {
    ++tables_scanned_;
    table.used += visit_entries(&table.entries[entry_index(Level::pte, part.start)], part.pages(), part.start);
  };
  const auto visit_huge = [&](PmdTable& pmds, std::size_t index, Range part) {
    if (part.bytes() != kHugeBytes) {
      ++scanned;
      return;
    }
    visit_entries(&pmds.huge[index], 1, part.start);
    if (!pmds.huge[index].none()) return;
    drop_leaf(pmds, index);
    --huge_entries_;
  };
  leaves<Level::pgd>(top_, range, visit_table, visit_huge);
  return scanned;
}

template <class Visit>
void PageTable::each(Range range, Visit&& visit) const {
  const auto visit_table = [&](const PteTable& table, Range part) {
    if (table.used == 0) return;
    for (Addr at = part.start; at < part.end; at = at + kPageSize) {
      const Pte entry = table.entries[entry_index(Level::pte, at)];
      if (!entry.none()) visit(Range::of(at, kPageSize), entry);
    }
  };
  const auto visit_huge = [&](const PmdTable& pmds, std::size_t index, Range part) {
    visit(part, pmds.huge[index].advanced(static_cast<std::int64_t>(entry_index(Level::pte, part.start))));
  };
  leaves<Level::pgd>(top_, range, visit_table, visit_huge);
}

}  // namespace faultline::mm
