#include "mm/page_table.h"

namespace faultline::mm {
namespace {

constexpr std::uint64_t leaf_tag(Addr addr) { return addr.value >> entry_shift(Level::pmd); }

/// The child at an index, made if it is missing.
template <Level L>
Table<below(L)>& child(Table<L>& table, Addr addr, std::uint64_t& made) {
  auto& entry = table.entries[entry_index(L, addr)];
  if (!entry) {
    entry = std::make_unique<Table<below(L)>>();
    ++table.used;
    ++made;
  }
  return *entry;
}

}  // namespace

PteTable* PageTable::leaf(Addr addr) const {
  if (last_leaf_ != nullptr && last_leaf_tag_ == leaf_tag(addr)) return last_leaf_;
  const auto& pud = top_.entries[entry_index(Level::pgd, addr)];
  if (!pud) return nullptr;
  const auto& pmd = pud->entries[entry_index(Level::pud, addr)];
  if (!pmd) return nullptr;
  PteTable* found = pmd->entries[entry_index(Level::pmd, addr)].get();
  if (found != nullptr) {
    last_leaf_ = found;
    last_leaf_tag_ = leaf_tag(addr);
  }
  return found;
}

const Pte* PageTable::find(Addr addr) const {
  const PteTable* table = leaf(addr);
  return table == nullptr ? nullptr : &table->entries[entry_index(Level::pte, addr)];
}

void PageTable::set(Addr addr, Pte pte) {
  PteTable* table = leaf(addr);
  if (table == nullptr) {
    std::uint64_t made = 0;
    table = &child(child(child(top_, addr, made), addr, made), addr, made);
    tables_ += made;
    tables_made_ += made;
  }
  Pte& entry = table->entries[entry_index(Level::pte, addr)];
  table->used += static_cast<std::uint32_t>(entry.none()) - static_cast<std::uint32_t>(pte.none());
  entry = pte;
}

template <Level L>
std::uint64_t PageTable::free_under(Table<L>& table, Range range, Addr floor, Addr ceiling) {
  constexpr std::uint64_t span = std::uint64_t{1} << entry_shift(L);
  std::uint64_t freed = 0;
  for (Addr at = range.start; at < range.end;) {
    const Range whole = Range::of(Addr{at.value & ~(span - 1)}, span);
    const Range part = range.intersect(whole);
    auto& entry = table.entries[entry_index(L, at)];
    if (entry) {
      if constexpr (L != Level::pmd) freed += free_under<below(L)>(*entry, part, floor, ceiling);
      if (floor <= whole.start && whole.end <= ceiling) {
        entry.reset();
        --table.used;
        ++freed;
      }
    }
    at = part.end;
  }
  return freed;
}

std::uint64_t PageTable::free_tables(Range range, Addr floor, Addr ceiling) {
  last_leaf_ = nullptr;
  const std::uint64_t freed = free_under<Level::pgd>(top_, range, floor, ceiling);
  tables_ -= freed;
  return freed;
}

}  // namespace faultline::mm
