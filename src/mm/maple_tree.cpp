#include "mm/maple_tree.h"

#include <algorithm>
#include <iterator>

#include "mm/maple_node.h"

namespace faultline::mm {

MapleTree::MapleTree(Balance balance) : balance_(balance), root_(std::make_unique<Node>()) {
  root_->items.push_back({kLastAddress, Entry::gap, nullptr});
}
MapleTree::~MapleTree() = default;
MapleTree::MapleTree(const MapleTree& other) : balance_(other.balance_), root_(copied(*other.root_, nullptr)) {}

std::unique_ptr<MapleTree::Node> MapleTree::copied(const Node& node, Node* parent) const {
  auto copy = std::make_unique<Node>();
  copy->parent = parent;
  copy->level = node.level;
  for (const Item& item : node.items) {
    copy->items.push_back({item.last, item.entry, item.child ? copied(*item.child, copy.get()) : nullptr});
  }
  return copy;
}

MapleTree::Node* MapleTree::leaf_of(std::uint64_t address) const {
  Node* node = root_.get();
  while (node->level > 0) node = node->items[node->place_of(address)].child.get();
  return node;
}

void MapleTree::walk() { work_.levels += height(); }

bool MapleTree::begins_at(std::uint64_t address) const {
  const Node* node = leaf_of(address);
  const std::size_t place = node->place_of(address);
  return address == (place == 0 ? node_start(*node) : node->items[place - 1].last + 1);
}

void MapleTree::step_back(std::uint64_t address) {
  ++work_.levels;
  const Node* node = leaf_of(address);
  const auto own = node->items.begin() + static_cast<std::ptrdiff_t>(node->place_of(address));
  if (std::find_if(node->items.begin(), own, [](const Item& item) { return item.entry == Entry::vma; }) != own) return;
  // Up to a node that has another one before this one, and down again.
  for (; node->parent != nullptr; node = node->parent) {
    work_.levels += 2;
    if (node->parent->place_of(node) > 0) return;
  }
}

/// The next node of the level, above (1) or below (-1), under whatever parent.
MapleTree::Node* MapleTree::beside(Node* node, int direction) const {
  unsigned climbed = 0;
  for (; node->parent != nullptr; node = node->parent, ++climbed) {
    const std::size_t place = node->parent->place_of(node);
    if (direction > 0 ? place + 1 == node->parent->items.size() : place == 0) continue;
    Node* found = node->parent->items[direction > 0 ? place + 1 : place - 1].child.get();
    for (; climbed > 0; --climbed) found = (direction > 0 ? found->items.front() : found->items.back()).child.get();
    return found;
  }
  return nullptr;
}

void MapleTree::store(Range range, Entry entry) {
  if (range.empty()) return;
  ++work_.stores;
  std::uint64_t first = range.start.value;
  std::uint64_t last = range.end.value - 1;
  Node* left = leaf_of(first);
  std::size_t from = left->place_of(first);
  const auto starts = [&](const Node* node, std::size_t place) {
    if (place > 0) return node->items[place - 1].last + 1;
    const Node* before = beside(const_cast<Node*>(node), -1);
    return before == nullptr ? 0 : before->last() + 1;
  };
  std::uint64_t left_start = starts(left, from);
  // A gap joins those beside it. None ends a leaf, but the last one.
  if (entry == Entry::gap) {
    if (left->items[from].entry == Entry::gap) {
      first = left_start;
    } else if (first == left_start && from > 0 && left->items[from - 1].entry == Entry::gap) {
      left_start = first = starts(left, --from);
    }
  }
  Node* right = leaf_of(last);
  std::size_t to = right->place_of(last);
  if (entry == Entry::gap) {
    if (right->items[to].entry == Entry::gap) {
      last = right->items[to].last;
    } else if (last == right->items[to].last && last != kLastAddress) {
      Node* next = to + 1 < right->items.size() ? right : beside(right, 1);
      const std::size_t place = next == right ? to + 1 : 0;
      // Where the leaf would end with the gap, the next one is taken in, joined or not.
      if (next->items[place].entry == Entry::gap) {
        right = next;
        to = place;
        last = next->items[place].last;
      } else if (next != right) {
        right = next;
        to = 0;
      }
    }
  }

  Change change{left, right, {}};
  for (std::size_t i = 0; i < from; ++i) change.items.push_back({left->items[i].last, left->items[i].entry, nullptr});
  if (left_start < first) change.items.push_back({first - 1, left->items[from].entry, nullptr});
  change.items.push_back({last, entry, nullptr});
  for (std::size_t i = right->place_of(last); i < right->items.size(); ++i) {
    if (right->items[i].last > last) change.items.push_back({right->items[i].last, right->items[i].entry, nullptr});
  }
  if (left == right) {
    const std::size_t before = left->items.size();
    const std::size_t after = change.items.size();
    const bool same_ranges = before == after && left_start == first && left->items[from].last == last;
    forget_gaps(left);
    if (same_ranges) {
      left->items[from].entry = entry;
      return;
    }
    const bool is_root = left->parent == nullptr;
    if (after <= left->room() && (is_root || after > left->few())) {
      // Two ranges share a bound that moves: in place.
      const bool in_place = before == after && to - from == 1;
      left->items = std::move(change.items);
      if (in_place) return;
      ++work_.nodes;
      work_.entries += after;
      return;
    }
    rewrite(std::move(change), after > left->room() ? Reason::split : Reason::join);
    return;
  }
  rewrite(std::move(change), Reason::span);
}

void MapleTree::take_neighbour(Change& change, Node* neighbour) const {
  if (neighbour->items.front().last > change.last->last()) {
    std::ranges::move(neighbour->items, std::back_inserter(change.items));
    change.last = neighbour;
  } else {
    Items all;
    std::ranges::move(neighbour->items, std::back_inserter(all));
    std::ranges::move(change.items, std::back_inserter(all));
    change.items = std::move(all);
    change.first = neighbour;
  }
}

/// After which items the nodes end, the last one not named.
std::vector<std::size_t> MapleTree::cuts(Change& change, Reason reason) const {
  const Node& model = *change.first;
  const std::size_t room = model.room();
  const std::size_t few = model.few();
  const auto settle = [&](std::size_t cut) {  // no leaf ends with a gap
    if (model.level > 0 || change.items[cut].entry == Entry::vma) return cut;
    if (balance_ == Balance::evens_out) return cut - 1;
    return cut < room - 1 && change.items.size() - 1 - cut > few ? cut + 1 : cut - 1;
  };
  if (reason == Reason::split && change.items.size() > room && model.parent != nullptr) {
    // A neighbour under the same parent that has room takes some, the left one first.
    Node& parent = *model.parent;
    const std::size_t place = parent.place_of(&model);
    const std::size_t space = 2 * room - 2 - (model.level == 0 ? 1 : 0) - (change.last->last() == kLastAddress ? 1 : 0);
    const bool evenly = balance_ == Balance::evens_out;
    const auto fits = [&](const Node& sibling) {
      const std::size_t all = change.items.size() + sibling.items.size();
      return evenly ? all < 2 * room : all - 2 < space;
    };
    if (place > 0 && fits(*parent.items[place - 1].child)) {
      take_neighbour(change, parent.items[place - 1].child.get());
      return {settle(evenly ? (change.items.size() - 1) / 2 : room - 2)};
    }
    if (place + 1 < parent.items.size() && fits(*parent.items[place + 1].child)) {
      take_neighbour(change, parent.items[place + 1].child.get());
      return {settle(evenly ? (change.items.size() - 1) / 2 : change.items.size() - 2 - (room - 2))};
    }
  }
  if (change.items.size() <= room) return {};
  const std::size_t last = change.items.size() - 1;
  std::size_t cut = settle(last / 2);
  if (cut < room && last - cut <= room) return {cut};
  cut = settle(last / 3);
  return {cut, settle(last / 3 * 2)};
}

void MapleTree::rewrite(Change change, Reason reason) {
  ++(reason == Reason::split ? work_.splits : reason == Reason::join ? work_.joins : work_.spans);
  for (;;) {
    const bool everything = beside(change.first, -1) == nullptr && beside(change.last, 1) == nullptr;
    const unsigned level = change.first->level;
    if (!everything && change.items.size() <= change.first->few()) {
      Node* above = change.last->parent->items.back().child.get() == change.last ? nullptr : beside(change.last, 1);
      Node* below =
          change.first->parent->items.front().child.get() == change.first ? nullptr : beside(change.first, -1);
      Node* neighbour = above != nullptr ? above : below;
      if (neighbour == nullptr)
        neighbour = beside(change.last, 1) != nullptr ? beside(change.last, 1) : beside(change.first, -1);
      take_neighbour(change, neighbour);
      reason = Reason::join;
    }
    const std::vector<std::size_t> ends = cuts(change, reason);
    work_.nodes += ends.size() + 1;
    work_.entries += change.items.size();

    Items made;
    std::size_t next = 0;
    for (std::size_t i = 0; i <= ends.size(); ++i) {
      auto node = std::make_unique<Node>();
      node->level = level;
      const std::size_t end = i < ends.size() ? ends[i] + 1 : change.items.size();
      for (; next < end; ++next) {
        if (change.items[next].child) change.items[next].child->parent = node.get();
        node->items.push_back(std::move(change.items[next]));
      }
      const std::uint64_t last = node->last();
      made.push_back({last, Entry::vma, std::move(node)});
    }
    if (change.first->parent == nullptr || (beside(change.first, -1) == nullptr && beside(change.last, 1) == nullptr)) {
      if (made.size() == 1) {
        root_ = std::move(made.front().child);
        root_->parent = nullptr;
        return;
      }
      auto top = std::make_unique<Node>();
      top->level = level + 1;
      for (Item& item : made) item.child->parent = top.get();
      top->items = std::move(made);
      ++work_.nodes;
      work_.entries += top->items.size();
      root_ = std::move(top);
      return;
    }
    Node* left = change.first->parent;
    Node* right = change.last->parent;
    const std::size_t from = left->place_of(change.first);
    const std::size_t to = right->place_of(change.last);
    if (left == right && from == to && made.size() == 1) {
      made.front().child->parent = left;
      left->items[from] = std::move(made.front());
      forget_gaps(left);
      return;
    }
    Change upper{left, right, {}};
    std::move(left->items.begin(), left->items.begin() + static_cast<std::ptrdiff_t>(from),
              std::back_inserter(upper.items));
    std::ranges::move(made, std::back_inserter(upper.items));
    const auto rest = right->items.begin() + static_cast<std::ptrdiff_t>(to) + 1;
    std::move(rest, right->items.end(), std::back_inserter(upper.items));
    change = std::move(upper);
  }
}

bool MapleTree::one_gap(Range range) const {
  if (range.empty()) return true;
  const Node* leaf = leaf_of(range.start.value);
  const Item& item = leaf->items[leaf->place_of(range.start.value)];
  return item.entry == Entry::gap && range.end.value - 1 <= item.last;
}

unsigned MapleTree::height() const { return root_->level + 1; }

namespace {

template <class Node, class Visit>
void each_leaf(const Node& node, const Visit& visit) {
  if (node.level == 0) return visit(node);
  for (const auto& item : node.items) each_leaf(*item.child, visit);
}

}  // namespace

std::vector<std::uint32_t> MapleTree::leaves() const {
  std::vector<std::uint32_t> sizes;
  each_leaf(*root_, [&](const Node& leaf) { sizes.push_back(static_cast<std::uint32_t>(leaf.items.size())); });
  return sizes;
}

std::vector<MapleTree::Held> MapleTree::held() const {
  std::vector<Held> all;
  each_leaf(*root_, [&](const Node& leaf) {
    for (const Item& item : leaf.items) all.push_back({item.last, item.entry});
  });
  return all;
}

bool MapleTree::sound() const {
  const auto check = [](const auto& self, const Node& node) -> bool {
    const bool root = node.parent == nullptr;
    if (node.items.empty() || node.items.size() > node.room()) return false;
    if (!root && node.items.size() < node.few()) return false;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const Item& item = node.items[i];
      if (i > 0 && item.last <= node.items[i - 1].last) return false;
      if ((node.level > 0) != (item.child != nullptr)) return false;
      if (!item.child) continue;
      if (item.child->parent != &node || item.child->level + 1 != node.level || item.child->last() != item.last) {
        return false;
      }
      if (!self(self, *item.child)) return false;
    }
    return root || node.level > 0 || node.last() == kLastAddress || node.items.back().entry == Entry::vma;
  };
  const std::vector<Held> all = held();
  const auto joined = [](const Held& a, const Held& b) { return a.entry == Entry::gap && b.entry == Entry::gap; };
  return check(check, *root_) && root_->last() == kLastAddress && std::ranges::adjacent_find(all, joined) == all.end();
}

}  // namespace faultline::mm
