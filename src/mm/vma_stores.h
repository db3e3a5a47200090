#pragma once

#include "mm/maple_tree.h"

namespace faultline::mm {

/// What the kernel stores into its tree of VMAs as VMAs come, go and change. Several changes of one call are one store
/// there: all VMAs that are unmapped go together, and a VMA takes over both neighbours at once.
class VmaStores {
 public:
  /// Is what a new mapping replaces removed first, or is the mapping stored over it (6.12 on)?
  enum class Replace : std::uint8_t { removes_first, stores_over };

  /// The tree as it is when the program begins: what the process has below and above the program's own mappings,
  /// whose space is given, and below its heap.
  VmaStores(Replace replace, MapleTree::Balance balance, Range space, Addr heap);

  void added(Range vma) { begin({vma, Kind::added}); }
  void removed(Range vma);
  /// Some of its addresses, at one end, are no longer the VMA's.
  void shrunk(Range rest) { begin({rest, Kind::removed}); }
  /// The upper part of what was one VMA is now another.
  void split(Range upper) { begin({upper, Kind::split}); }
  /// The VMA has these addresses now, more than before: its own and a neighbour's.
  void grown(Range vma);

  /// What follows is another store, whatever it is: a VMA and its neighbours have become one.
  void end_merge() { perform(); }

  /// The highest free range of that many bytes is looked for.
  void sought_gap(std::uint64_t bytes);

  /// What all of it has taken.
  TreeWork work();

 private:
  enum class Kind : std::uint8_t { none, added, removed, split, grown };
  struct Pending {
    Range range;
    Kind kind = Kind::none;
  };
  void begin(Pending next);
  void perform();

  Replace replace_;
  std::uint64_t highest_;  // address that a mapping may have where the kernel chooses
  MapleTree tree_;
  Pending pending_;
};

}  // namespace faultline::mm
