#include "calibrate/refill.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace faultline::calibrate {
namespace {

/// The slow ways out of the fast ones: what they do serves many calls to come.
constexpr auto kRestocking = std::to_array<std::string_view>({
    // Pages: from the buddy lists to the processor's own, and back.
    "rmqueue_bulk",
    "free_pcppages_bulk",
    // Objects: another slab for the processor, up to 6.17; then sheaves of objects.
    "___slab_alloc",
    "__unfreeze_partials",
    "unfreeze_partials",
    "refill_objects",
    "__pcs_replace_empty_main",
    "__pcs_replace_full_main",
    // Random numbers, of which arm64 needs one for each call: a block of them.
    "_get_random_bytes",
});

/// Compilers add endings to the names of what they split or specialise: ".constprop.0", ".isra.0", ".part.0".
bool restocks(std::string_view function) {
  return std::ranges::find(kRestocking, function.substr(0, function.find('.'))) != kRestocking.end();
}

}  // namespace

double restocking(const run::Row& row) {
  if (row.samples.empty()) return 0;
  std::vector<bool> inside(row.paths.size());
  std::uint64_t instructions = 0;
  for (std::size_t i = 0; i < row.paths.size(); ++i) {
    const run::CallPath& path = row.paths[i];
    inside[i] = restocks(path.function) || (path.parent != run::CallPath::kNoParent && inside[path.parent]);
    if (inside[i]) instructions += path.instructions;
  }
  return static_cast<double>(instructions) / static_cast<double>(row.samples.size());
}

}  // namespace faultline::calibrate
