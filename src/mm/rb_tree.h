#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/page.h"
#include "mm/tree_work.h"

namespace faultline::mm {

/// The shape of the kernel's tree of VMAs up to 6.0: a red-black tree in which every VMA knows the largest gap below
/// itself and below all VMAs under it (lib/rbtree.c, and mm/mmap.c as of 5.10), beside a list in order of address. It
/// follows the kernel's rules for what is turned, and counts what that and searching take; it knows no VMA.
class RbTree {
 public:
  /// A VMA's node; 0 is none. One that was erased may come again for another VMA.
  using Id = std::uint32_t;

  RbTree() : nodes_(1) {}

  /// The node of the VMA that begins there, which has to be one, without counting.
  Id at(Addr start) const;
  Range range(Id id) const { return nodes_[id].range; }
  Id next(Id id) const { return nodes_[id].next; }

  /// The first VMA that ends above `addr`, as a search from the root finds it (find_vma); 0 if there is none.
  Id find(Addr addr);
  /// A search for where the range belongs, which ends at the first VMA that lies over some of it (find_vma_links).
  void find_place(Range range);
  /// A search from the root for the highest gap of that many bytes below `top` (unmapped_area_topdown).
  void find_gap(std::uint64_t bytes, Addr top);

  /// Links a VMA in over a free range.
  Id insert(Range range);
  /// Takes it out of the tree; in the list it stays, where its neighbours' gaps are measured from it, until:
  void erase(Id id);
  void unlink(Id id);
  /// Other bounds, still between the same neighbours. Gaps stay as they are until:
  void move(Id id, Range range) { nodes_[id].range = range; }
  /// The gap below the VMA is another: so may be the largest ones that are known above it.
  void update_gap(Id id) { propagate(id, 0); }

  const TreeWork& work() const { return work_; }
  void forget_work() { work_ = {}; }

  /// How many levels there are.
  unsigned height() const { return height(root_); }
  /// Is it ordered, balanced by the rules of red-black trees, and are all gaps right?
  bool sound() const;

 private:
  enum class Side : std::uint8_t { left, right };
  enum class Color : std::uint8_t { black, red };
  struct Node {
    Range range;
    std::array<Id, 2> child{};
    Id parent = 0;
    Id prev = 0;
    Id next = 0;
    Color color = Color::black;
    std::uint64_t gap = 0;
  };
  static constexpr Side opposite(Side side) { return side == Side::left ? Side::right : Side::left; }
  Id& child(Id id, Side side) { return nodes_[id].child[std::to_underlying(side)]; }
  Id child(Id id, Side side) const { return nodes_[id].child[std::to_underlying(side)]; }
  Side side_of(Id id) const { return child(nodes_[id].parent, Side::left) == id ? Side::left : Side::right; }
  bool is_red(Id id) const { return id != 0 && nodes_[id].color == Color::red; }
  Addr end_below(Id id) const { return nodes_[id].prev != 0 ? nodes_[nodes_[id].prev].range.end : Addr{0}; }
  std::uint64_t largest_gap(Id id) const;
  void propagate(Id from, Id stop);
  void replace(Id old, Id with);
  void adopt(Id parent, Side side, Id id);
  void rotate(Id top, Side down);
  void settle_inserted(Id id);
  void settle_erased(Id parent);
  unsigned height(Id id) const;

  std::vector<Node> nodes_;  // nodes_[0] is none
  std::vector<Id> free_;
  Id root_ = 0;
  TreeWork work_;
};

}  // namespace faultline::mm
