// What a modelled process is found to have when its program asks.
#include <utility>

#include "machine/model_kernel.h"
#include "machine/shown_flags.h"
#include "program/constants.h"
#include "run/state_digest.h"

namespace faultline::machine {

run::Shape ModelKernel::shape(Range range) const {
  const mm::RangeState state = space_->state(range);
  return {.vmas = state.vmas, .present = state.present, .writable = state.writable, .huge = state.huge};
}

run::ProbeAnswer ModelKernel::vmas(std::optional<Range> range) const {
  return range ? space_->state(*range).vmas : space_->vma_count();
}

run::ProbeAnswer ModelKernel::perm(Addr addr) const {
  const std::optional<Prot> prot = space_->protection(addr);
  return prot ? std::to_underlying(*prot) : program::kUnmapped;
}

run::ProbeAnswer ModelKernel::pkey(Addr addr) const {
  run::ProbeAnswer key = program::kUnmapped;
  space_->for_each_vma(Range::of(addr.page_floor(), kPageSize),
                       [&](const mm::Vma& vma) { key = mm::pkey_of(vma.flags); });
  return key;
}

template <class Holds>
std::uint64_t ModelKernel::count_pages(Range range, Holds holds) const {
  std::uint64_t pages = 0;
  space_->for_each_vma(range, [&](const mm::Vma& vma) {
    const Range part = vma.range().intersect(range);
    for (Addr page = part.start.page_floor(); page < part.end; page = page + kPageSize) {
      if (holds(space_->page(page))) ++pages;
    }
  });
  return pages;
}

run::ProbeAnswer ModelKernel::soft_dirty(Range range) const {
  return count_pages(range, [](const mm::PageState& page) { return page.soft_dirty; });
}

run::ProbeAnswer ModelKernel::uffd_wp(Range range) const {
  if (space_->profile().pagemap_uffd == mm::PagemapUffd::hidden) {
    return std::unexpected("before Linux 5.14 pagemap does not show what a userfaultfd protects");
  }
  return count_pages(range, [](const mm::PageState& page) { return page.uffd_wp; });
}

run::ProbeAnswer ModelKernel::state(Range range) const {
  run::StateDigest digest(range);
  space_->for_each_vma(range, [&](const mm::Vma& vma) {
    // Private anonymous memory has a pgoff too, which nobody shows.
    const std::uint64_t offset = vma.object ? vma.pgoff << kPageShift : 0;
    digest.vma({vma.range(), mm::prot_of(vma.flags), vma.is(mm::VmFlags::may_share), offset});
    const Range part = vma.range().intersect(range);
    for (Addr page = part.start.page_floor(); page < part.end; page = page + kPageSize) {
      const mm::PageState state = space_->page(page);
      digest.tracking({page, tracks_soft_dirty_ && state.soft_dirty, state.uffd_wp});
      if (state.present) digest.page({page, space_->peek(page), state.cached, state.mapped_once});
    }
  });
  return digest.value();
}

run::ProbeAnswer ModelKernel::vm_flags(Addr addr) const {
  std::uint64_t shown = 0;
  space_->for_each_vma(Range::of(addr, 1),
                       [&](const mm::Vma& vma) { shown = shown_flags(space_->profile(), vma.flags); });
  return shown;
}

run::ProbeAnswer ModelKernel::flags(Range range) const {
  run::FlagsDigest digest(range);
  space_->for_each_vma(range,
                       [&](const mm::Vma& vma) { digest.vma(vma.range(), shown_flags(space_->profile(), vma.flags)); });
  return digest.value();
}

}  // namespace faultline::machine
