#include "mm/anon_vma_chain.h"

#include <bit>

namespace faultline::mm {
namespace {

/// As many as matter to a logarithm, and no more: calls are not to take longer the more VMAs there are.
constexpr std::uint64_t kMost = 1024;

/// The VMAs with the same anon_vma in a row with this one.
std::uint64_t sharers(const Vma& vma) {
  std::uint64_t count = 1;
  for (const Vma* at = vma.lower; at != nullptr && at->anon_vma == vma.anon_vma && count < kMost; at = at->lower)
    ++count;
  for (const Vma* at = vma.upper; at != nullptr && at->anon_vma == vma.anon_vma && count < kMost; at = at->upper)
    ++count;
  return count;
}

Counter counter_of(Links links) {
  switch (links) {
    case Links::made:
      return Counter::anon_links_made;
    case Links::moved:
      return Counter::anon_links_moved;
    case Links::freed:
      return Counter::anon_links_freed;
  }
  return Counter::count_;
}

}  // namespace

void count_links(Mm& mm, const Vma& vma, Links links) {
  mm.count(Counter::file_links, vma.object != nullptr ? 1 : 0);
  if (vma.anon_vma == 0) return;
  mm.count(counter_of(links), vma.chain);
  if (!mm.vmas.followed()) return;
  const std::uint64_t passes = links == Links::moved ? 2 : 1;
  mm.count(Counter::anon_link_levels, passes * vma.chain * static_cast<std::uint64_t>(std::bit_width(sharers(vma))));
}

}  // namespace faultline::mm
