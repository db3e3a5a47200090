#pragma once

#include <array>
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
using PteTable = Table<Level::pte>;

/// A process's page tables. Tables are made on demand and freed only by free_tables(), as the kernel does.
class PageTable {
 public:
  /// The entry for an address, or nullptr where no table exists.
  const Pte* find(Addr addr) const;
  /// The entry for an address, none where no table exists.
  Pte get(Addr addr) const {
    const Pte* pte = find(addr);
    return pte == nullptr ? Pte{} : *pte;
  }
  /// Writes the entry, making tables on the way.
  void set(Addr addr, Pte pte);

  /// Calls `visit(addr, pte)` for every entry, none or not, of every existing table under the range, and stores what it
  /// returns. The kernel's walks do the same: they step over missing tables and look at each entry of the others.
  /// Returns the entries looked at.
  template <class Visit>
  std::uint64_t update(Range range, Visit&& visit);
  /// The same for entries that are not none, without storing.
  template <class Visit>
  void each(Range range, Visit&& visit) const;

  /// Frees the tables that lie under `range` and cannot serve any address in [floor, ceiling) outside of it
  /// (free_pgtables). All their entries are none by then. Returns how many were freed.
  std::uint64_t free_tables(Range range, Addr floor, Addr ceiling);

  /// Tables that exist below the top one, and those ever made.
  std::uint64_t tables() const { return tables_; }
  std::uint64_t tables_made() const { return tables_made_; }

 private:
  template <Level L>
  using Child = Table<below(L)>;

  PteTable* leaf(Addr addr) const;
  template <Level L, class Visit>
  static void leaves(const Table<L>& table, Range range, Visit&& visit);
  template <Level L>
  std::uint64_t free_under(Table<L>& table, Range range, Addr floor, Addr ceiling);

  Table<Level::pgd> top_;
  std::uint64_t tables_ = 0;
  std::uint64_t tables_made_ = 0;
  // The leaf that was used last; accesses come in runs.
  mutable PteTable* last_leaf_ = nullptr;
  mutable std::uint64_t last_leaf_tag_ = 0;
};

template <Level L, class Visit>
void PageTable::leaves(const Table<L>& table, Range range, Visit&& visit) {
  constexpr std::uint64_t span = std::uint64_t{1} << entry_shift(L);
  for (Addr at = range.start; at < range.end;) {
    const Addr entry_start{at.value & ~(span - 1)};
    const Range part = range.intersect(Range::of(entry_start, span));
    if (const auto& child = table.entries[entry_index(L, at)]) {
      if constexpr (L == Level::pmd) {
        visit(*child, part);
      } else {
        leaves<below(L)>(*child, part, visit);
      }
    }
    at = part.end;
  }
}

template <class Visit>
std::uint64_t PageTable::update(Range range, Visit&& visit) {
  std::uint64_t scanned = 0;
  leaves<Level::pgd>(top_, range, [&](PteTable& table, Range part) {
    scanned += part.pages();
    for (Addr at = part.start; at < part.end; at = at + kPageSize) {
      Pte& entry = table.entries[entry_index(Level::pte, at)];
      const Pte changed = visit(at, entry);
      table.used += static_cast<std::uint32_t>(entry.none()) - static_cast<std::uint32_t>(changed.none());
      entry = changed;
    }
  });
  return scanned;
}

template <class Visit>
void PageTable::each(Range range, Visit&& visit) const {
  leaves<Level::pgd>(top_, range, [&](const PteTable& table, Range part) {
    if (table.used == 0) return;
    for (Addr at = part.start; at < part.end; at = at + kPageSize) {
      const Pte entry = table.entries[entry_index(Level::pte, at)];
      if (!entry.none()) visit(at, entry);
    }
  });
}

}  // namespace faultline::mm
