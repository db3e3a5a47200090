#include "calibrate/refill.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

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
std::string_view name_of(const run::CallPath& path) {
  return std::string_view(path.function).substr(0, path.function.find('.'));
}

bool restocks(const run::CallPath& path) { return std::ranges::find(kRestocking, name_of(path)) != kRestocking.end(); }

/// Which paths lie in one that `begins` accepts, or are one.
template <class Begins>
std::vector<bool> inside(const run::Row& row, Begins begins) {
  std::vector<bool> found(row.paths.size());
  for (std::size_t i = 0; i < row.paths.size(); ++i) {
    const run::CallPath& path = row.paths[i];
    found[i] = begins(path) || (path.parent != run::CallPath::kNoParent && found[path.parent]);
  }
  return found;
}

/// What takes a page from the lists, and what then makes the page ready, which is no part of the search.
bool takes_page(const run::CallPath& path) { return name_of(path) == "get_page_from_freelist"; }
bool readies_page(const run::CallPath& path) { return name_of(path) == "prep_new_page"; }

/// The search for pages outside of what restocks anyway: instructions and calls.
struct Search {
  std::uint64_t instructions = 0;
  std::uint64_t calls = 0;
};

Search search_for_pages(const run::Row& row) {
  const std::vector<bool> restocking = inside(row, restocks);
  const std::vector<bool> taking = inside(row, takes_page);
  const std::vector<bool> readying = inside(row, readies_page);
  Search search;
  for (std::size_t i = 0; i < row.paths.size(); ++i) {
    if (restocking[i] || !taking[i] || readying[i]) continue;
    search.instructions += row.paths[i].instructions;
    if (takes_page(row.paths[i])) search.calls += row.paths[i].calls;
  }
  return search;
}

}  // namespace

Refills::Refills(std::span<const run::Row> rows) {
  for (const run::Row& row : rows) {
    if (std::ranges::any_of(row.paths, [](const auto& path) { return name_of(path) == "rmqueue_bulk"; })) {
      full_list_ = kNone;  // the compiler has left the refill to itself
      return;
    }
    const Search search = search_for_pages(row);
    if (search.calls == 0) continue;
    full_list_ = std::min(full_list_, static_cast<double>(search.instructions) / static_cast<double>(search.calls));
  }
}

double Refills::of(const run::Row& row) const {
  if (row.samples.empty()) return 0;
  const std::vector<bool> restocking = inside(row, restocks);
  double instructions = 0;
  for (std::size_t i = 0; i < row.paths.size(); ++i) {
    if (restocking[i]) instructions += static_cast<double>(row.paths[i].instructions);
  }
  const Search search = search_for_pages(row);
  const double from_full = search.calls == 0 ? kNone : full_list_ * static_cast<double>(search.calls);
  instructions += std::max(static_cast<double>(search.instructions) - from_full, 0.0);
  return instructions / static_cast<double>(row.samples.size());
}

}  // namespace faultline::calibrate
