#pragma once

#include <memory>

#include "base/page.h"
#include "mm/tree_work.h"

namespace faultline::mm {

/// Which part of a VMA that is cut in two is the one that the kernel allocates.
enum class NewPart : std::uint8_t { lower, upper };

/// How many VMAs a process of the agent has on vm beside the program's, and its stack: what the tree holds from the
/// beginning.
struct Beside {
  std::uint64_t apart = 0;  // segments of a static program that have a gap above them
  std::uint64_t below = 0;  // the others, with nothing between them; the heap is the last
  std::uint64_t above = 0;  // with nothing between them: fences, memory shared with the parent, the vdso and its data
};

/// Does who looks for a VMA look for the one before it, too? Up to 6.2 those that may merge with it did so only where
/// it could be a neighbour: where the VMA begins at the address.
enum class Lookup : std::uint8_t { alone, with_previous, with_neighbour };

/// Follows what the kernel's own tree of VMAs takes, as VMAs come, go and change. Ranges are those of whole VMAs, after
/// the change unless it says otherwise.
class TreeFollower {
 public:
  virtual ~TreeFollower() = default;
  virtual std::unique_ptr<TreeFollower> clone() const = 0;

  virtual void added(Range vma) = 0;
  virtual void removed(Range vma) = 0;
  /// Some of its addresses, at one end, are no longer the VMA's.
  virtual void shrunk(Range before, Range gone) = 0;
  /// The upper part of what was one VMA is now another.
  virtual void split(Range lower, Range upper, NewPart made) = 0;
  /// The VMA has more addresses at that end: such as were nobody's.
  virtual void grown_up(Range vma) = 0;
  virtual void grown_down(Range before, Range vma) = 0;
  /// The VMA has taken over all of its neighbour.
  virtual void took_next(Range vma) = 0;
  virtual void took_prev(Range vma) = 0;
  /// The bound between two VMAs has moved; the lower one ended there before.
  virtual void bound_moved(Range lower, Range upper, Addr before) = 0;
  /// What was done to a VMA and its neighbours up to here is one change to the kernel, what follows another.
  virtual void end_merge() {}

  /// The kernel looks for the VMA at an address.
  virtual void sought(Addr /*addr*/, Lookup /*lookup*/) {}
  /// The kernel looks for the place of a new VMA.
  virtual void sought_place(Range /*range*/) {}
  /// The kernel looks for the highest gap of that many bytes.
  virtual void sought_gap(std::uint64_t /*bytes*/) {}

  /// What all of it has taken.
  virtual TreeWork work() = 0;
};

}  // namespace faultline::mm
