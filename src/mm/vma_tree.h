#pragma once

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/page.h"
#include "mm/gap_index.h"
#include "mm/tree_follower.h"
#include "mm/vma.h"

namespace faultline::mm {

/// The VMAs of an address space, ordered by address and disjoint (the kernel's maple tree). A Vma* stays valid until
/// that VMA is erased; every operation is O(log n).
class VmaTree {
 public:
  /// `space` is where mappings may be placed.
  explicit VmaTree(Range space) : gaps_(space) {}
  VmaTree(const VmaTree& other);
  VmaTree& operator=(const VmaTree&) = delete;

  /// The first VMA that ends above `addr` (find_vma), or nullptr. It need not contain `addr`.
  Vma* find(Addr addr) const;
  /// The VMA that contains `addr`, or nullptr.
  Vma* at(Addr addr) const {
    Vma* vma = find(addr);
    return vma != nullptr && vma->start <= addr ? vma : nullptr;
  }
  /// The VMA with the next higher or lower address, adjacent or not; nullptr at the end.
  Vma* next(const Vma& vma) const { return vma.upper; }
  Vma* prev(const Vma& vma) const { return vma.lower; }
  /// The last VMA that ends at or below `addr`, or nullptr.
  Vma* before(Addr addr) const;
  /// The first VMA that overlaps the range, or nullptr.
  Vma* first_in(Range range) const {
    Vma* vma = find(range.start);
    return vma != nullptr && vma->start < range.end ? vma : nullptr;
  }

  /// Adds a VMA over a free range.
  Vma* insert(const Vma& vma);
  void erase(Vma* vma);
  /// Cuts `vma` in two at `addr`, strictly inside it. The VMA keeps the lower part; the upper one is returned. `made`
  /// is the one that the kernel makes.
  Vma* split(Vma* vma, Addr addr, NewPart made);
  /// Moves one bound over free addresses, or over those of a neighbour that is shrunk or erased first.
  void set_start(Vma* vma, Addr start);
  void set_end(Vma* vma, Addr end);
  /// `vma` takes over all of its adjacent upper neighbour `next`, which is erased.
  void absorb_next(Vma* vma, Vma* next);
  /// `vma` takes over all of its adjacent lower neighbour `prev`, which is erased.
  void absorb_prev(Vma* vma, Vma* prev);
  /// Moves the bound that two adjacent VMAs share.
  void move_bound(Vma* lower, Vma* upper, Addr bound);

  /// From now on it is counted what the kernel's own tree takes for what is done to this one.
  void count_work(std::unique_ptr<TreeFollower> follower);
  /// Nothing where it is not counted.
  TreeWork work() const { return follower_ == nullptr ? TreeWork{} : follower_->work(); }
  /// Where the kernel searches its tree, for what that takes there.
  void sought(Addr addr, Lookup lookup = Lookup::alone) const {
    if (follower_ != nullptr) follower_->sought(addr, lookup);
  }
  void sought_place(Range range) const {
    if (follower_ != nullptr) follower_->sought_place(range);
  }
  void sought_gap(std::uint64_t bytes) const {
    if (follower_ != nullptr) follower_->sought_gap(bytes);
  }
  /// Is it counted?
  bool followed() const { return follower_ != nullptr; }
  /// What was done to a VMA and its neighbours up to here is one change to the kernel's tree, what follows another.
  void end_merge() const {
    if (follower_ != nullptr) follower_->end_merge();
  }

  /// map_count.
  std::uint64_t size() const { return order_.size(); }
  /// How many of them grow down.
  std::uint64_t growing() const { return growing_; }
  /// The highest free range of `bytes` below the top of the space, or nothing.
  std::optional<Addr> highest_gap(std::uint64_t bytes) const { return gaps_.highest(bytes); }

  /// Calls `visit(Vma&)` in order of address for each VMA that overlaps the range; `visit` changes no bound.
  template <class Visit>
  void each(Range range, Visit&& visit) const;

 private:
  /// A VMA's place in the order: the page number of its start, and below it the number of its slot. One word instead of
  /// an address and a pointer: what a search touches decides its cost among a million VMAs.
  using Key = std::uint64_t;
  static constexpr unsigned kSlotBits = 28;
  static constexpr Key kSlotMask = (Key{1} << kSlotBits) - 1;
  using Order = absl::btree_set<Key>;
  /// No VMA starts beyond what the page number has room for; a search may.
  static constexpr Key key(Addr start, std::uint64_t slot) {
    return std::min(start.value >> kPageShift, ~Key{0} >> kSlotBits) << kSlotBits | slot;
  }

  Vma* in_slot(Key key) const {
    const std::uint64_t slot = key & kSlotMask;
    return &slabs_[slot / kSlab][slot % kSlab];
  }
  /// Where `vma` stands in the order.
  Order::iterator place(const Vma& vma) { return order_.lower_bound(key(vma.start, 0)); }
  /// A slot that holds a copy of `vma`.
  std::uint64_t allocate(const Vma& vma);
  /// Takes a VMA out of the order and the list of neighbours; its addresses are somebody's still.
  void remove(Vma* vma);
  /// Moves a VMA's start to where no other VMA lies between.
  void move_start(Vma* vma, Addr start);
  static void link(Vma* lower, Vma* vma, Vma* upper);
  void share(Shmem* object);
  void unshare(Shmem* object);

  static constexpr std::uint64_t kSlab = 256;
  Order order_;
  GapIndex gaps_;
  std::vector<std::unique_ptr<Vma[]>> slabs_;
  std::uint64_t growing_ = 0;
  std::uint64_t used_slots_ = 0;  // slots that ever held a VMA
  std::vector<std::uint32_t> free_;
  /// What is mapped, as long as it is.
  struct Share {
    ShmemRef object;
    std::uint64_t vmas = 0;
  };
  absl::flat_hash_map<Shmem*, Share> shares_;
  mutable Vma* last_found_ = nullptr;
  std::unique_ptr<TreeFollower> follower_;
};

template <class Visit>
void VmaTree::each(Range range, Visit&& visit) const {
  for (Vma* vma = find(range.start); vma != nullptr && vma->start < range.end; vma = vma->upper) visit(*vma);
}

}  // namespace faultline::mm
