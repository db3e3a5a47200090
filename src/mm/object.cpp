#include "mm/object.h"

#include <algorithm>

namespace faultline::mm {
namespace {

/// The addresses at which the VMA maps the object's pages [first, last).
Range addresses_of(const Vma& vma, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t end = vma.pgoff + vma.pages();
  const std::uint64_t from = std::clamp(first, vma.pgoff, end);
  const std::uint64_t to = std::clamp(last, from, end);
  return {vma.start + ((from - vma.pgoff) << kPageShift), vma.start + ((to - vma.pgoff) << kPageShift)};
}

void unmap_in(Mm& mm, const Shmem& object, std::uint64_t first, std::uint64_t last, Copies copies) {
  mm.vmas.each({Addr{0}, mm.geometry().task_size}, [&](const Vma& vma) {
    if (vma.object != &object) return;
    const Range part = addresses_of(vma, first, last);
    if (part.empty()) return;
    FlushBatch flush(mm);
    zap(mm, part, Guarding::keep, flush, copies == Copies::go ? Zapped::all : Zapped::cached);
    flush.perform();
  });
}

}  // namespace

void unmap_object(Mm& mm, const Shmem& object, std::uint64_t first, std::uint64_t last, Copies copies) {
  for (Mm* other : mm.system.spaces()) {
    if (other == &mm) {
      unmap_in(mm, object, first, last, copies);
      continue;
    }
    const Counters before = other->counters;
    unmap_in(*other, object, first, last, copies);
    mm.counters += other->counters - before;
    other->counters = before;
  }
}

void resize_object(Mm& mm, Shmem& object, std::uint64_t size) {
  const std::uint64_t before = object.size();
  object.set_size(size);
  if (size > before) return;
  constexpr std::uint64_t kEnd = ~std::uint64_t{0};
  const std::uint64_t kept = object.pages();
  if (page_ceil(before) >> kPageShift > kept) unmap_object(mm, object, kept, kEnd, Copies::go);
  object.drop(kept, kEnd);
  const std::uint64_t tail = size & (kPageSize - 1);
  if (const auto last = object.find(size >> kPageShift); tail != 0 && last) {
    mm.frames().clear(*last, tail, kPageSize);
    mm.frames().at(*last).set_dirty();
  }
}

void punch_hole(Mm& mm, Shmem& object, std::uint64_t first, std::uint64_t last) {
  unmap_object(mm, object, first, last, Copies::stay);
  object.drop(first, last);
}

}  // namespace faultline::mm
