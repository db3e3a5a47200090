#pragma once

#include "mm/maple_tree.h"
#include "mm/profile.h"
#include "mm/tree_follower.h"

namespace faultline::mm {

/// What the kernel stores into its tree of VMAs as VMAs come, go and change. Several changes of one call are one store
/// there: all VMAs that are unmapped go together, and a VMA takes over both neighbours at once.
class VmaStores final : public TreeFollower {
 public:
  /// The tree as it is when the program begins: what the process has below and above the program's own mappings,
  /// whose space is given, and below its heap.
  VmaStores(VmaIndex index, Beside beside, Range space, Addr heap);

  std::unique_ptr<TreeFollower> clone() const override { return std::make_unique<VmaStores>(*this); }
  void added(Range vma) override { begin({vma, Kind::added}); }
  void removed(Range vma) override;
  void shrunk(Range /*before*/, Range gone) override { begin({gone, Kind::removed}); }
  void split(Range /*lower*/, Range upper, NewPart /*made*/) override { begin({upper, Kind::split}); }
  void grown_up(Range vma) override { grown(vma); }
  void grown_down(Range /*before*/, Range vma) override { grown(vma); }
  void took_next(Range vma) override { grown(vma); }
  void took_prev(Range vma) override { grown(vma); }
  void bound_moved(Range lower, Range upper, Addr before) override { grown(lower.end > before ? lower : upper); }
  void end_merge() override { perform(); }
  void sought(Addr addr, Lookup lookup) override;
  void sought_gap(std::uint64_t bytes) override;
  TreeWork work() override;

 private:
  enum class Kind : std::uint8_t { none, added, removed, split, grown };
  struct Pending {
    Range range;
    Kind kind = Kind::none;
  };
  void begin(Pending next);
  void grown(Range vma);
  void perform();

  /// Is a new mapping stored over what it replaces (6.12 on), or is that removed first?
  bool stores_over() const { return index_ >= VmaIndex::maple_tree_rewrite; }

  VmaIndex index_;
  std::uint64_t highest_;  // address that a mapping may have where the kernel chooses
  MapleTree tree_;
  Pending pending_;
};

}  // namespace faultline::mm
