// mseal(2): C.1.
#include "mm/calls.h"
#include "mm/merge.h"

namespace faultline::mm {
namespace {

/// Is every page of the range mapped?
bool covered(Mm& mm, Range range) {
  Addr at = range.start;
  for (Vma* vma = mm.vmas.at(at); vma != nullptr && vma->start <= at; vma = mm.vmas.next(*vma)) {
    visit_vma(mm);
    at = vma->end;
    if (at >= range.end) return true;
  }
  return false;
}

}  // namespace

Result<void> do_mseal(Mm& mm, Addr start, std::uint64_t length, std::uint64_t flags) {
  const Range asked = Range::of(start, 0);
  if (mm.profile().seal == Seal::absent) return mm.refuse(ENOSYS, Rule::bad_argument, asked);
  if (flags != 0) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  if (!start.page_aligned()) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  const std::uint64_t bytes = page_ceil(length);
  if (length != 0 && bytes == 0) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  const Addr end = start + bytes;
  if (end < start) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  if (end == start) return {};

  mm.count(Counter::mmap_lock_write);
  const Range range{start, end};
  if (!covered(mm, range)) return mm.refuse(ENOMEM, Rule::hole, range);
  for (Addr at = start; at < end;) {
    Vma* vma = mm.vmas.at(at);
    visit_vma(mm);
    if (!vma->is(VmFlags::sealed)) {
      const auto sealed = modify_flags(mm, vma, range.intersect({at, vma->end}), vma->flags | VmFlags::sealed);
      if (!sealed) return std::unexpected(sealed.error());
      vma = *sealed;
    }
    at = vma->end;
  }
  return {};
}

}  // namespace faultline::mm
