#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/page.h"
#include "mm/gap_index.h"
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
  /// Cuts `vma` in two at `addr`, strictly inside it. The VMA keeps the lower part; the upper one is returned.
  Vma* split(Vma* vma, Addr addr);
  /// Moves one bound over free addresses, or over those of a neighbour that is shrunk or erased first.
  void set_start(Vma* vma, Addr start);
  void set_end(Vma* vma, Addr end);
  /// `vma` takes over all of its adjacent upper neighbour `next`, which is erased.
  void absorb_next(Vma* vma, Vma* next);
  /// `vma` takes over all of its adjacent lower neighbour `prev`, which is erased.
  void absorb_prev(Vma* vma, Vma* prev);
  /// Moves the bound that two adjacent VMAs share.
  void move_bound(Vma* lower, Vma* upper, Addr bound);

  /// map_count.
  std::uint64_t size() const { return by_start_.size(); }
  /// The highest free range of `bytes` below the top of the space, or nothing.
  std::optional<Addr> highest_gap(std::uint64_t bytes) const { return gaps_.highest(bytes); }

  /// Calls `visit(Vma&)` in order of address for each VMA that overlaps the range; `visit` changes no bound.
  template <class Visit>
  void each(Range range, Visit&& visit) const;

 private:
  Vma* allocate(const Vma& vma);
  /// Takes a VMA out of the map and the list of neighbours; its addresses are somebody's still.
  void remove(Vma* vma);
  static void link(Vma* lower, Vma* vma, Vma* upper);
  void share(Shmem* object);
  void unshare(Shmem* object);

  static constexpr std::size_t kSlab = 256;
  absl::btree_map<std::uint64_t, Vma*> by_start_;
  GapIndex gaps_;
  std::vector<std::unique_ptr<Vma[]>> slabs_;
  std::size_t used_in_last_ = kSlab;
  std::vector<Vma*> free_;
  /// What is mapped, as long as it is.
  struct Share {
    ShmemRef object;
    std::uint64_t vmas = 0;
  };
  absl::flat_hash_map<Shmem*, Share> shares_;
  mutable Vma* last_found_ = nullptr;
};

template <class Visit>
void VmaTree::each(Range range, Visit&& visit) const {
  for (Vma* vma = find(range.start); vma != nullptr && vma->start < range.end; vma = vma->upper) visit(*vma);
}

}  // namespace faultline::mm
