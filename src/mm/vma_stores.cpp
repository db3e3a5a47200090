#include "mm/vma_stores.h"

#include <algorithm>

namespace faultline::mm {

VmaStores::VmaStores(Replace replace, MapleTree::Balance balance, Range space, Addr heap)
    : replace_(replace), tree_(balance) {
  // As the agent's process has it on vm: the stack; the six segments of a static program, and its heap above them;
  // memory that it shares with its parent, and what fences the program's mappings off.
  constexpr std::uint64_t kBelow = 7;
  constexpr std::uint64_t kAbove = 2;
  const auto page = [](Addr at) { return Range::of(at, kPageSize); };
  const Addr stack = space.end + 1024 * kPageSize;
  tree_.store(page(stack), MapleTree::Entry::vma);
  for (std::uint64_t i = kBelow; i > 0; --i) tree_.store(page(heap - i * kPageSize), MapleTree::Entry::vma);
  for (std::uint64_t i = kAbove; i-- > 0;) tree_.store(page(space.end + i * kPageSize), MapleTree::Entry::vma);
  highest_ = space.end.value + kAbove * kPageSize - 1;
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

void VmaStores::sought_gap(std::uint64_t bytes) {
  perform();
  tree_.search(bytes, highest_);
}

void VmaStores::begin(Pending next) {
  const bool replaced = replace_ == Replace::stores_over && pending_.kind == Kind::removed &&
                        (next.kind == Kind::added || next.kind == Kind::grown) && next.range.contains(pending_.range);
  if (!replaced) perform();
  pending_ = next;
}

void VmaStores::perform() {
  if (pending_.kind == Kind::none) return;
  tree_.store(pending_.range, pending_.kind == Kind::removed ? MapleTree::Entry::gap : MapleTree::Entry::vma);
  pending_ = {};
}

TreeWork VmaStores::work() {
  perform();
  return tree_.work();
}

}  // namespace faultline::mm
