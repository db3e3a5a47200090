#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/page.h"

namespace faultline::mm {

/// The free ranges of an address space, so that mmap finds the highest one that fits without walking the VMAs. Gaps are
/// kept by address and in classes by size: class c holds gaps of 2^c to 2^(c+1)-1 pages.
class GapIndex {
 public:
  explicit GapIndex(Range space);

  /// Takes addresses out of the free ones; all of `range` that lies in the space is free.
  void take(Range range);
  /// Gives addresses back; all of `range` that lies in the space is taken.
  void give(Range range);

  /// The highest start at which `bytes` (a multiple of the page size, not 0) fit at the upper end of a gap.
  std::optional<Addr> highest(std::uint64_t bytes) const;

 private:
  static constexpr std::size_t kClasses = 52;
  static std::size_t class_of(std::uint64_t bytes);
  void add(Range gap);
  void remove(Range gap);

  Range space_;
  absl::btree_map<std::uint64_t, std::uint64_t> end_by_start_;
  std::array<absl::btree_set<std::uint64_t>, kClasses> by_class_;  // starts
};

}  // namespace faultline::mm
