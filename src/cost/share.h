#pragma once

#include <compare>
#include <cstdint>

#include "base/counters.h"
#include "cost/operation.h"

namespace faultline::cost {

/// The code of the kernel in which something happens. Operations that come through the same code pay the same there.
enum class Path : std::uint8_t {
  own,     // of this operation alone
  modify,  // vma_modify(): flags of a part of a VMA change
  create,  // mmap makes a VMA, or another one larger
  map,     // mappings are cut and go
  zap,     // pages are unmapped
  fault,   // pages are made, by faults or by populating
  tree,    // VMAs are stored in their tree
};

struct Share {
  Path path = Path::own;
  Operation operation{};  // with own: which; else 0
  auto operator<=>(const Share&) const = default;
};

/// Where the operation does what the counter counts.
Share share_of(Operation operation, Counter counter);

}  // namespace faultline::cost
