// How the kernel looks for the highest free range (mas_empty_area_rev): what it passes on the way.
#include "mm/maple_node.h"

namespace faultline::mm {

void MapleTree::forget_gaps(Node* node) {
  for (; node != nullptr; node = node->parent) node->largest_gap.reset();
}

std::uint64_t MapleTree::largest_gap(Node& node, std::uint64_t first) {
  if (node.largest_gap) return *node.largest_gap;
  std::uint64_t largest = 0;
  for (const Item& item : node.items) {
    std::uint64_t gap = 0;
    if (item.child) {
      gap = largest_gap(*item.child, first);
    } else if (item.entry == Entry::gap) {
      gap = item.last - first + 1;
    }
    largest = std::max(largest, gap);
    first = item.last + 1;
  }
  node.largest_gap = largest;
  return largest;
}

namespace {

/// Where the item at `place` begins, in a node that begins at `first`.
template <class Items>
std::uint64_t start_of(const Items& items, std::size_t place, std::uint64_t first) {
  return place == 0 ? first : items[place - 1].last + 1;
}

}  // namespace

std::optional<std::size_t> MapleTree::fitting_item(Node& node, std::size_t place, std::uint64_t first,
                                                   std::uint64_t bytes, std::uint64_t last) {
  const auto start = [&] { return start_of(node.items, place, first); };
  while (last < start()) --place;
  for (;;) {
    ++work_.searched;
    const Item& item = node.items[place];
    const bool free = item.child == nullptr && item.entry == Entry::gap;
    const std::uint64_t gap = item.child ? largest_gap(*item.child, start()) : free ? item.last - start() + 1 : 0;
    if (gap >= bytes && last - start() + 1 >= bytes) return place;
    // What lies below a gap is none.
    const std::size_t step = free ? 2 : 1;
    if (place < step) return std::nullopt;
    place -= step;
  }
}

void MapleTree::search(std::uint64_t bytes, std::uint64_t last) {
  Node* node = root_.get();
  std::uint64_t first = 0;
  std::size_t place = node->items.size() - 1;
  const Node* tried = nullptr;
  for (;;) {
    if (const auto found = fitting_item(*node, place, first, bytes, last)) {
      if (node->level == 0) return;
      first = start_of(node->items, *found, first);
      node = node->items[*found].child.get();
      place = node->items.size() - 1;
      tried = node;
      continue;
    }
    // A node above the leaves is looked through twice before it is left.
    if (tried != node) {
      tried = node;
      continue;
    }
    do {
      if (node->parent == nullptr) return;
      place = node->parent->place_of(node);
      node = node->parent;
    } while (place == 0);
    first = node_start(*node);
    --place;
  }
}

std::uint64_t MapleTree::node_start(const Node& node) const {
  const Node* before = beside(const_cast<Node*>(&node), -1);
  return before == nullptr ? 0 : before->last() + 1;
}

}  // namespace faultline::mm
