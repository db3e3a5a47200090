#pragma once

#include <cstdint>

#include "mm/mm.h"

namespace faultline::mm {

/// Was all of a range mapped?
enum class Holes : std::uint8_t { none, some };

/// Applies `change(vma, part)` to each VMA's part of the range and passes over holes, as madvise(2), the naming of VMAs
/// and userfaultfds do; who minds them says so at the end. `change` returns the VMA that then holds the part; its first
/// error ends the walk.
template <class Change>
Result<Holes> each_over_holes(Mm& mm, Range range, Change change) {
  Holes holes = Holes::none;
  for (Addr at = range.start; at < range.end;) {
    Vma* vma = mm.vmas.find(at);
    if (vma == nullptr || vma->start > at) {
      holes = Holes::some;
      if (vma == nullptr || vma->start >= range.end) break;
      at = vma->start;
    }
    const Result<Vma*> changed = change(vma, range.intersect({at, vma->end}));
    if (!changed) return std::unexpected(changed.error());
    at = (*changed)->end;
  }
  return holes;
}

}  // namespace faultline::mm
