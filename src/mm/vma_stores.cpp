#include "mm/vma_stores.h"

#include <algorithm>

namespace faultline::mm {

VmaStores::VmaStores(VmaIndex index, Beside beside, Range space, Addr heap)
    : index_(index),
      tree_(index == VmaIndex::maple_tree_even ? MapleTree::Balance::evens_out : MapleTree::Balance::fills_neighbour) {
  const auto page = [](Addr at) { return Range::of(at, kPageSize); };
  const Addr stack = space.end + 1024 * kPageSize;
  tree_.store(page(stack), MapleTree::Entry::vma);
  const Addr segments = heap - beside.below * kPageSize;
  for (std::uint64_t i = beside.apart; i > 0; --i) {
    tree_.store(page(segments - 2 * i * kPageSize), MapleTree::Entry::vma);
  }
  for (std::uint64_t i = beside.below; i > 0; --i) tree_.store(page(heap - i * kPageSize), MapleTree::Entry::vma);
  for (std::uint64_t i = beside.above; i-- > 0;) tree_.store(page(space.end + i * kPageSize), MapleTree::Entry::vma);
  highest_ = space.end.value + beside.above * kPageSize - 1;
  tree_.forget_work();
}

void VmaStores::removed(Range vma) {
  // With nothing between them, as the VMAs of an unmapped range go one by one.
  if (pending_.kind == Kind::removed && pending_.range.end <= vma.start &&
      tree_.one_gap({pending_.range.end, vma.start})) {
    pending_.range.end = vma.end;
    return;
  }
  begin({vma, Kind::removed});
}

void VmaStores::grown(Range vma) {
  if (pending_.kind == Kind::grown && vma.contains(pending_.range)) {
    pending_.range = vma;
    return;
  }
  begin({vma, Kind::grown});
}

void VmaStores::sought(Addr addr, Lookup lookup) {
  perform();
  tree_.walk();
  const bool asks =
      lookup == Lookup::with_previous ||
      (lookup == Lookup::with_neighbour && (index_ != VmaIndex::maple_tree || tree_.begins_at(addr.value)));
  if (asks) tree_.step_back(addr.value);
}

void VmaStores::sought_gap(std::uint64_t bytes) {
  perform();
  tree_.search(bytes, highest_);
}

void VmaStores::begin(Pending next) {
  const bool replaced = stores_over() && pending_.kind == Kind::removed &&
                        (next.kind == Kind::added || next.kind == Kind::grown) && next.range.contains(pending_.range);
  if (!replaced) perform();
  pending_ = next;
}

void VmaStores::perform() {
  if (pending_.kind == Kind::none) return;
  if (index_ == VmaIndex::maple_tree) tree_.reserve_most();
  tree_.store(pending_.range, pending_.kind == Kind::removed ? MapleTree::Entry::gap : MapleTree::Entry::vma);
  pending_ = {};
}

TreeWork VmaStores::work() {
  perform();
  return tree_.work();
}

}  // namespace faultline::mm
