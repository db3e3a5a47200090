#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mm/rb_tree.h"
#include "mm/tree_follower.h"

namespace faultline::mm {

/// What the kernel does to its red-black tree of VMAs up to 6.0, and to the thread's cache of the last VMAs found
/// (mm/vmacache.c), as VMAs come, go and change, and are searched for.
class VmaLinks final : public TreeFollower {
 public:
  /// The tree as it is when the program begins, of a process that was forked: what it has below and above the program's
  /// own mappings, whose space is given, and below its heap.
  VmaLinks(Beside beside, Range space, Addr heap);

  std::unique_ptr<TreeFollower> clone() const override { return std::make_unique<VmaLinks>(*this); }
  void added(Range vma) override;
  void removed(Range vma) override;
  void shrunk(Range before, Range gone) override;
  void split(Range lower, Range upper, NewPart made) override;
  void grown_up(Range vma) override;
  void grown_down(Range before, Range vma) override;
  void took_next(Range vma) override;
  void took_prev(Range vma) override;
  void bound_moved(Range lower, Range upper, Addr before) override;
  void end_merge() override;
  void sought(Addr addr, Lookup lookup) override;
  void sought_place(Range range) override;
  void sought_gap(std::uint64_t bytes) override;
  TreeWork work() override;

 private:
  using Id = RbTree::Id;
  void detach();
  void erase(Id id);
  /// The gap below the VMA is computed anew when the change is complete.
  void leave_gap(Id id);

  RbTree tree_;
  Addr top_;                  // of the space for mappings
  std::vector<Id> detached_;  // out of the tree one by one, but all together out of the list
  Id gap_left_ = 0;
  /// The thread's cache: a VMA's place in it is the address that was looked for, in 2 MiB, modulo the slots.
  static constexpr unsigned kSlots = 4;
  std::array<Id, kSlots> cache_{};
  bool cache_valid_ = false;
  std::uint64_t slots_seen_ = 0;
};

}  // namespace faultline::mm
