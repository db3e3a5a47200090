#include "mm/pin.h"

#include "mm/fault.h"
#include "mm/system.h"

namespace faultline::mm {

PinnedPages::~PinnedPages() {
  for (const FrameId frame : frames_) system_.frames().unpin(frame);
}

void PinnedPages::add(FrameId frame) {
  system_.frames().pin(frame);
  frames_.push_back(frame);
}

Result<std::shared_ptr<PinnedPages>> do_pin(Mm& mm, Addr start, std::uint64_t bytes) {
  const Range range{start.page_floor(), Addr{page_ceil(start.value + bytes)}};
  auto pinned = std::make_shared<PinnedPages>(mm.system);
  mm.count(Counter::mmap_lock_read);
  mm.has_pinned = true;
  for (Addr at = range.start; at < range.end; at = at + kPageSize) {
    Vma* vma = mm.vmas.at(at);
    if (vma == nullptr) return mm.refuse(EFAULT, Rule::hole, {at, range.end});
    if (!vma->is(VmFlags::write) || !pkey_permits(mm.pkru, *vma, DataAccess::write)) {
      return mm.refuse(EFAULT, Rule::vma_forbids, vma->range());
    }
    while (!mm.table.get(at).write()) {
      if (resolve(mm, *vma, at, arch::Report::write, FaultOrigin::populate) != Handled::done) {
        return mm.refuse(EFAULT, Rule::guard_region, Range::of(at, kPageSize));
      }
    }
    const Pte pte = mm.table.get(at);
    const std::uint32_t part = pte.huge() ? static_cast<std::uint32_t>((at - huge_floor(at)) >> kPageShift) : 0;
    pinned->add(FrameId{pte.frame().index + part});
  }
  return pinned;
}

}  // namespace faultline::mm
