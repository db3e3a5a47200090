#include "mm/page_table.h"

#include <utility>

namespace faultline::mm {
namespace {

constexpr std::uint64_t leaf_tag(Addr addr) { return addr.value >> entry_shift(Level::pmd); }

constexpr std::int64_t page_in_huge(Addr addr) { return static_cast<std::int64_t>(entry_index(Level::pte, addr)); }

/// The child at an index, made if it is missing.
template <class TableType>
auto& child(TableType& table, std::size_t index, std::uint64_t& made) {
  auto& entry = table.entries[index];
  if (!entry) {
    entry = std::make_unique<typename std::remove_reference_t<decltype(entry)>::element_type>();
    ++table.used;
    ++made;
  }
  return *entry;
}

}  // namespace

PmdTable* PageTable::pmd_table(Addr addr) const {
  const auto& pud = top_.entries[entry_index(Level::pgd, addr)];
  return pud ? pud->entries[entry_index(Level::pud, addr)].get() : nullptr;
}

PmdTable& PageTable::make_pmd_table(Addr addr) {
  auto& pud = child(top_, entry_index(Level::pgd, addr), tables_made_);
  return child(pud, entry_index(Level::pud, addr), tables_made_);
}

PteTable& PageTable::make_leaf(PmdTable& pmds, Addr addr) {
  return child(pmds, entry_index(Level::pmd, addr), tables_made_);
}

void PageTable::drop_leaf(PmdTable& pmds, std::size_t index) {
  last_leaf_ = nullptr;
  pmds.entries[index].reset();
  --pmds.used;
  ++tables_freed_;
}

PteTable* PageTable::leaf(Addr addr) const {
  if (last_leaf_ != nullptr && last_leaf_tag_ == leaf_tag(addr)) return last_leaf_;
  const PmdTable* pmds = pmd_table(addr);
  if (pmds == nullptr) return nullptr;
  const std::size_t index = entry_index(Level::pmd, addr);
  PteTable* found = pmds->entries[index].get();
  if (found == nullptr || !pmds->huge[index].none()) return nullptr;
  last_leaf_ = found;
  last_leaf_tag_ = leaf_tag(addr);
  return found;
}

Pte PageTable::get(Addr addr) const {
  if (const PteTable* table = leaf(addr)) return table->entries[entry_index(Level::pte, addr)];
  const PmdTable* pmds = pmd_table(addr);
  if (pmds == nullptr) return {};
  const Pte huge = pmds->huge[entry_index(Level::pmd, addr)];
  return huge.none() ? huge : huge.advanced(page_in_huge(addr));
}

void PageTable::set(Addr addr, Pte pte) {
  PteTable* table = leaf(addr);
  if (table == nullptr) {
    PmdTable& pmds = make_pmd_table(addr);
    table = &make_leaf(pmds, addr);
    if (pte.huge()) {
      if (pmds.huge[entry_index(Level::pmd, addr)].none()) ++huge_entries_;
      pmds.huge[entry_index(Level::pmd, addr)] = pte.advanced(-page_in_huge(addr));
      return;
    }
  }
  assert(!pte.huge());
  Pte& entry = table->entries[entry_index(Level::pte, addr)];
  table->used += static_cast<std::uint32_t>(entry.none()) - static_cast<std::uint32_t>(pte.none());
  entry = pte;
}

void PageTable::split_huge(Addr addr, Pte first) {
  PmdTable& pmds = *pmd_table(addr);
  const std::size_t index = entry_index(Level::pmd, addr);
  pmds.huge[index] = {};
  --huge_entries_;
  PteTable& table = *pmds.entries[index];
  for (std::size_t i = 0; i < kTableEntries; ++i) table.entries[i] = first.advanced(static_cast<std::int64_t>(i));
  table.used = kTableEntries;
}

void PageTable::collapse(Addr addr, Pte huge) {
  assert(leaf(addr) != nullptr && leaf(addr)->used == 0);
  pmd_table(addr)->huge[entry_index(Level::pmd, addr)] = huge;
  last_leaf_ = nullptr;
  ++huge_entries_;
}

bool PageTable::move_table(Addr from, Addr to) {
  PmdTable& source = *pmd_table(from);
  PmdTable& target = make_pmd_table(to);
  const std::size_t source_index = entry_index(Level::pmd, from);
  const std::size_t target_index = entry_index(Level::pmd, to);
  if (target.entries[target_index]) return false;
  last_leaf_ = nullptr;
  target.entries[target_index] = std::move(source.entries[source_index]);
  target.huge[target_index] = std::exchange(source.huge[source_index], {});
  ++target.used;
  --source.used;
  return true;
}

void PageTable::free_empty_table(Addr addr) {
  const PteTable* table = leaf(addr);
  if (table != nullptr && table->used == 0) drop_leaf(*pmd_table(addr), entry_index(Level::pmd, addr));
}

template <Level L>
void PageTable::free_under(Table<L>& table, Range range, Addr floor, Addr ceiling) {
  constexpr std::uint64_t span = std::uint64_t{1} << entry_shift(L);
  for (Addr at = range.start; at < range.end;) {
    const Range whole = Range::of(Addr{at.value & ~(span - 1)}, span);
    const Range part = range.intersect(whole);
    auto& entry = table.entries[entry_index(L, at)];
    if (entry) {
      if constexpr (L != Level::pmd) free_under<below(L)>(*entry, part, floor, ceiling);
      if (floor <= whole.start && whole.end <= ceiling) {
        entry.reset();
        --table.used;
        ++tables_freed_;
      }
    }
    at = part.end;
  }
}

void PageTable::free_tables(Range range, Addr floor, Addr ceiling) {
  last_leaf_ = nullptr;
  free_under<Level::pgd>(top_, range, floor, ceiling);
}

}  // namespace faultline::mm
