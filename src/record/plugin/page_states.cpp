#include "record/plugin/page_states.h"

#include <algorithm>
#include <limits>

namespace faultline::record {

PageStates::Leaf& PageStates::leaf(std::uint64_t region) {
  const std::lock_guard guard(mutex_);
  auto& found = leaves_[region];
  if (found == nullptr) found = std::make_unique<Leaf>();
  return *found;
}

void PageStates::forget(std::uint64_t start, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t last =
      bytes - 1 > std::numeric_limits<std::uint64_t>::max() - start ? ~std::uint64_t{0} : start + bytes - 1;
  const auto forget_in = [&](std::uint64_t region, Leaf& leaf) {
    const std::uint64_t from = std::max(start >> 12U, region * kPagesPerLeaf) - region * kPagesPerLeaf;
    const std::uint64_t to = std::min(last >> 12U, (region + 1) * kPagesPerLeaf - 1) - region * kPagesPerLeaf;
    for (std::uint64_t page = from; page <= to; ++page) leaf[page].store(0, std::memory_order_relaxed);
  };
  const std::lock_guard guard(mutex_);
  const std::uint64_t first_region = start >> kLeafShift;
  const std::uint64_t last_region = last >> kLeafShift;
  if (last_region - first_region < leaves_.size()) {
    for (std::uint64_t region = first_region; region <= last_region; ++region) {
      if (const auto found = leaves_.find(region); found != leaves_.end()) forget_in(region, *found->second);
    }
    return;
  }
  for (auto& [region, leaf] : leaves_) {
    if (region >= first_region && region <= last_region) forget_in(region, *leaf);
  }
}

void PageStates::forget_all() { forget(0, ~std::uint64_t{0}); }

}  // namespace faultline::record
