#include "mm/rb_tree.h"

#include <algorithm>
#include <optional>

namespace faultline::mm {

RbTree::Id RbTree::at(Addr start) const {
  Id id = root_;
  while (id != 0 && nodes_[id].range.start != start) {
    id = child(id, start < nodes_[id].range.start ? Side::left : Side::right);
  }
  return id;
}

RbTree::Id RbTree::find(Addr addr) {
  Id found = 0;
  for (Id id = root_; id != 0;) {
    ++work_.levels;
    const Range range = nodes_[id].range;
    if (range.end <= addr) {
      id = child(id, Side::right);
      continue;
    }
    found = id;
    if (range.start <= addr) break;
    id = child(id, Side::left);
  }
  return found;
}

void RbTree::find_place(Range range) {
  for (Id id = root_; id != 0;) {
    ++work_.levels;
    const Range here = nodes_[id].range;
    if (here.end > range.start && here.start < range.end) return;
    id = child(id, here.end > range.start ? Side::left : Side::right);
  }
}

void RbTree::find_gap(std::uint64_t bytes, Addr top) {
  const Addr highest = top - bytes;  // where the gap has to begin, or below
  const auto holds = [&](Id id) { return id != 0 && nodes_[id].gap >= bytes; };
  if (!holds(root_)) return;
  bool from_above = true;
  for (Id id = root_; id != 0;) {
    ++work_.walked;
    const Addr start = end_below(id);
    if (from_above && start <= highest && holds(child(id, Side::right))) {
      id = child(id, Side::right);
      continue;
    }
    const Addr end = nodes_[id].range.start;
    if (start <= highest && end > start && end - start >= bytes) return;
    if (holds(child(id, Side::left))) {
      id = child(id, Side::left);
      from_above = true;
      continue;
    }
    // Back up, to the first one that this was above of.
    while (true) {
      const Id from = std::exchange(id, nodes_[id].parent);
      ++work_.walked;
      if (id == 0 || child(id, Side::left) != from) break;
    }
    from_above = false;
  }
}

std::uint64_t RbTree::largest_gap(Id id) const {
  const Node& node = nodes_[id];
  const Addr below = end_below(id);
  const std::uint64_t own = node.range.start > below ? node.range.start - below : 0;
  return std::max({own, nodes_[node.child[0]].gap, nodes_[node.child[1]].gap});
}

void RbTree::propagate(Id from, Id stop) {
  for (Id id = from; id != stop; id = nodes_[id].parent) {
    ++work_.gaps;
    const std::uint64_t gap = largest_gap(id);
    if (gap == nodes_[id].gap) return;
    nodes_[id].gap = gap;
  }
}

void RbTree::adopt(Id parent, Side side, Id id) {
  child(parent, side) = id;
  if (id != 0) nodes_[id].parent = parent;
}

/// What `old`'s parent had in it, it has in `with` from now on.
void RbTree::replace(Id old, Id with) {
  const Id parent = nodes_[old].parent;
  if (parent == 0) {
    root_ = with;
  } else {
    child(parent, side_of(old)) = with;
  }
  if (with != 0) nodes_[with].parent = parent;
}

/// `top` goes down on that side, and its child on the other one comes up in its place.
void RbTree::rotate(Id top, Side down) {
  const Side up = opposite(down);
  const Id risen = child(top, up);
  replace(top, risen);
  adopt(top, up, child(risen, down));
  adopt(risen, down, top);
  nodes_[risen].gap = nodes_[top].gap;
  nodes_[top].gap = largest_gap(top);
  ++work_.gaps;
  ++work_.rotations;
}

RbTree::Id RbTree::insert(Range range) {
  Id parent = 0;
  Id prev = 0;
  Side side = Side::left;
  for (Id id = root_; id != 0; id = child(id, side)) {
    parent = id;
    side = range.start < nodes_[id].range.start ? Side::left : Side::right;
    if (side == Side::right) prev = id;
  }
  Id id = 0;
  if (free_.empty()) {
    id = static_cast<Id>(nodes_.size());
    nodes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Node& node = nodes_[id];
  node = {.range = range, .parent = parent, .prev = prev, .color = Color::red};
  // Without one below, the next is the first of all: the leftmost.
  Id next = prev != 0 ? nodes_[prev].next : root_;
  while (prev == 0 && next != 0 && child(next, Side::left) != 0) next = child(next, Side::left);
  node.next = next;
  if (prev != 0) nodes_[prev].next = id;
  if (next != 0) {
    nodes_[next].prev = id;
    update_gap(next);
  }
  if (parent == 0) {
    root_ = id;
  } else {
    child(parent, side) = id;
  }
  update_gap(id);
  settle_inserted(id);
  return id;
}

void RbTree::settle_inserted(Id id) {
  while (is_red(nodes_[id].parent)) {
    Id parent = nodes_[id].parent;
    const Id grandparent = nodes_[parent].parent;
    const Side side = side_of(parent);
    const Id uncle = child(grandparent, opposite(side));
    if (is_red(uncle)) {
      nodes_[parent].color = nodes_[uncle].color = Color::black;
      nodes_[grandparent].color = Color::red;
      ++work_.rotations;
      id = grandparent;
      continue;
    }
    if (side_of(id) != side) {
      rotate(parent, side);
      parent = id;
    }
    rotate(grandparent, opposite(side));
    nodes_[parent].color = Color::black;
    nodes_[grandparent].color = Color::red;
    return;
  }
  if (nodes_[id].parent == 0) nodes_[id].color = Color::black;
}

void RbTree::erase(Id id) {
  const Node node = nodes_[id];
  const Id left = node.child[0];
  const Id right = node.child[1];
  Id changed = node.parent;  // from there upwards gaps may be others
  Id short_of_black = 0;     // whose child on one side has a black node less above its leaves now
  if (left == 0 || right == 0) {
    const Id only = left == 0 ? right : left;
    if (only != 0) {
      nodes_[only].color = node.color;
    } else if (node.color == Color::black) {
      short_of_black = node.parent;
    }
    replace(id, only);
  } else {
    // The next VMA comes in its place.
    Id successor = right;
    while (child(successor, Side::left) != 0) successor = child(successor, Side::left);
    const Id below = child(successor, Side::right);
    Id parent = successor;
    nodes_[successor].gap = node.gap;
    if (successor != right) {
      parent = nodes_[successor].parent;
      adopt(parent, Side::left, below);
      adopt(successor, Side::right, right);
      propagate(parent, successor);
    }
    adopt(successor, Side::left, left);
    replace(id, successor);
    if (below != 0) {
      nodes_[below].color = Color::black;
    } else if (nodes_[successor].color == Color::black) {
      short_of_black = parent;
    }
    nodes_[successor].color = node.color;
    changed = successor;
  }
  propagate(changed, 0);
  if (short_of_black != 0) settle_erased(short_of_black);
}

void RbTree::settle_erased(Id parent) {
  for (Id id = 0; parent != 0; id = std::exchange(parent, nodes_[parent].parent)) {
    const Side side = child(parent, Side::right) == id ? Side::right : Side::left;
    const Side far = opposite(side);
    Id sibling = child(parent, far);
    if (is_red(sibling)) {
      rotate(parent, side);
      nodes_[sibling].color = Color::black;
      nodes_[parent].color = Color::red;
      sibling = child(parent, far);
    }
    const Id inner = child(sibling, side);
    if (!is_red(inner) && !is_red(child(sibling, far))) {
      nodes_[sibling].color = Color::red;
      ++work_.rotations;
      if (std::exchange(nodes_[parent].color, Color::black) == Color::red) return;
      continue;
    }
    if (!is_red(child(sibling, far))) {
      rotate(sibling, far);
      sibling = inner;
    }
    rotate(parent, side);
    nodes_[sibling].color = std::exchange(nodes_[parent].color, Color::black);
    nodes_[child(sibling, far)].color = Color::black;
    return;
  }
}

void RbTree::unlink(Id id) {
  const auto [prev, next] = std::pair(nodes_[id].prev, nodes_[id].next);
  if (prev != 0) nodes_[prev].next = next;
  if (next != 0) nodes_[next].prev = prev;
  free_.push_back(id);
}

unsigned RbTree::height(Id id) const {
  return id == 0 ? 0 : 1 + std::max(height(nodes_[id].child[0]), height(nodes_[id].child[1]));
}

bool RbTree::sound() const {
  // The black nodes on every way down from a node, or nothing where they differ or something else is wrong.
  const auto blacks = [this](const auto& self, Id id) -> std::optional<unsigned> {
    if (id == 0) return 0;
    const Node& node = nodes_[id];
    const auto [left, right] = std::pair(node.child[0], node.child[1]);
    for (const Id below : {left, right}) {
      if (below != 0 && nodes_[below].parent != id) return std::nullopt;
      if (is_red(id) && is_red(below)) return std::nullopt;
    }
    if (left != 0 && nodes_[left].range.end > node.range.start) return std::nullopt;
    if (right != 0 && nodes_[right].range.start < node.range.end) return std::nullopt;
    if (node.gap != largest_gap(id)) return std::nullopt;
    const auto below = self(self, left);
    if (!below || below != self(self, right)) return std::nullopt;
    return *below + (node.color == Color::black ? 1 : 0);
  };
  return blacks(blacks, root_).has_value();
}

}  // namespace faultline::mm
