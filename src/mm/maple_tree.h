#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/page.h"
#include "mm/tree_work.h"

namespace faultline::mm {

/// The shape of the kernel's tree of VMAs from 6.1 on (lib/maple_tree.c): which ranges share a node, and so what a
/// store costs. A leaf holds up to 16 ranges, of VMAs and of the gaps between them; a node above holds up to 10 nodes.
/// It follows the kernel's rules for when nodes are copied, split, filled from a neighbour and joined, and knows no
/// VMA.
class MapleTree {
 public:
  /// What becomes of ranges that are too many for a node, or too few.
  enum class Balance : std::uint8_t {
    fills_neighbour,  // up to 6.18: a neighbour with room for what is over is filled, all but one place
    evens_out,        // 7.3: a neighbour with room for what is over shares evenly
  };

  /// One gap over all addresses.
  explicit MapleTree(Balance balance);
  ~MapleTree();
  MapleTree(const MapleTree& other);
  MapleTree& operator=(const MapleTree&) = delete;

  enum class Entry : std::uint8_t { gap, vma };
  /// Makes the range one entry; what lay there before goes, or keeps its ends. Gaps join their neighbours.
  void store(Range range, Entry entry);

  /// Looks for the range that holds an address, for what that takes.
  void walk();
  /// Looks from there for the VMA before it, which may be in another leaf.
  void step_back(std::uint64_t address);
  /// Does the range that holds the address begin there?
  bool begins_at(std::uint64_t address) const;
  /// Sets aside as many nodes as any one store can take.
  void reserve_most() { work_.reserved += 1 + 3 * std::uint64_t{height()}; }
  /// Looks for the highest free range of `bytes` that ends at `last` or below, for what that takes.
  void search(std::uint64_t bytes, std::uint64_t last);

  /// Is nothing but one gap in the range, or is it empty?
  bool one_gap(Range range) const;

  /// All that stores have taken so far.
  const TreeWork& work() const { return work_; }
  void forget_work() { work_ = {}; }

  /// Levels, 1 where the root is a leaf.
  unsigned height() const;
  /// The number of ranges in each leaf, in order of address.
  std::vector<std::uint32_t> leaves() const;
  /// The ranges of all leaves in order: where each ends, and what it is.
  struct Held {
    std::uint64_t last = 0;  // the last address, inclusive
    Entry entry = Entry::gap;
    bool operator==(const Held&) const = default;
  };
  std::vector<Held> held() const;
  /// Is every node but the root filled as far as the kernel's rules have it, every leaf equally deep, and no gap beside
  /// another or at the end of a leaf that is not the last?
  bool sound() const;

 private:
  struct Node;
  struct Item {
    std::uint64_t last = 0;
    Entry entry = Entry::vma;
    std::unique_ptr<Node> child;  // of a node above the leaves
  };
  using Items = std::vector<Item>;
  /// The nodes [first, last] of one level, all neighbours, and what comes in their place.
  struct Change {
    Node* first = nullptr;
    Node* last = nullptr;
    Items items;
  };
  enum class Reason : std::uint8_t { split, join, span };

  Node* leaf_of(std::uint64_t address) const;
  Node* beside(Node* node, int direction) const;
  void rewrite(Change change, Reason reason);
  void take_neighbour(Change& change, Node* neighbour) const;
  std::vector<std::size_t> cuts(Change& change, Reason reason) const;
  static std::uint64_t largest_gap(Node& node, std::uint64_t first);
  static void forget_gaps(Node* node);
  std::uint64_t node_start(const Node& node) const;
  /// The highest item, from `place` down, that has a gap of the size in it.
  std::optional<std::size_t> fitting_item(Node& node, std::size_t place, std::uint64_t first, std::uint64_t bytes,
                                          std::uint64_t last);
  std::unique_ptr<Node> copied(const Node& node, Node* parent) const;

  Balance balance_;
  std::unique_ptr<Node> root_;
  TreeWork work_;
};

}  // namespace faultline::mm
