#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "mm/maple_tree.h"

namespace faultline::mm {

inline constexpr std::uint64_t kLastAddress = std::numeric_limits<std::uint64_t>::max();

struct MapleTree::Node {
  Node* parent = nullptr;
  unsigned level = 0;  // of leaves: 0
  Items items;
  std::optional<std::uint64_t> largest_gap;  // once it was asked for

  std::uint64_t last() const { return items.back().last; }
  /// How many items there is room for, and what is too few for a node that is not the root.
  std::size_t room() const { return level == 0 ? 16 : 10; }
  std::size_t few() const { return level == 0 ? 6 : 4; }
  std::size_t place_of(std::uint64_t address) const {
    const auto at = std::ranges::lower_bound(items, address, {}, &Item::last);
    return static_cast<std::size_t>(at - items.begin());
  }
  std::size_t place_of(const Node* child) const {
    const auto at = std::ranges::find(items, child, [](const Item& item) { return item.child.get(); });
    return static_cast<std::size_t>(at - items.begin());
  }
};

}  // namespace faultline::mm
