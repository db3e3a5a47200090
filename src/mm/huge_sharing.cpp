// Who maps a large folio: B.5, A.6.
#include "mm/huge.h"

namespace faultline::mm {
namespace {

/// Does any of the folio's entries map it as a whole? Such an entry is one reference, and one mapping of each page.
bool mapped_whole(const FramePool& frames, FrameId head) {
  std::uint64_t mappings = 0;
  for (std::uint32_t i = 0; i < kHugePages; ++i) mappings += frames.at({head.index + i}).mappings();
  return mappings > frames.references(head);
}

}  // namespace

std::uint32_t own_mappings(const Mm& mm, Addr at, FrameId head) {
  const std::uint32_t all = mm.system.frames().references(head);
  std::uint32_t own = 0;
  const auto count_in = [&](Range range) {
    own = 0;
    mm.table.each(range, [&](Range, Pte pte) {
      if (pte.present() && !pte.zero_page() && mm.system.frames().head(pte.frame()) == head) ++own;
    });
  };
  count_in(Range::of(huge_floor(at), kHugeBytes));
  // Only where mremap took parts elsewhere are they not all around here.
  if (own != all && mm.scattered_folios) count_in({Addr{0}, mm.geometry().task_size});
  return own;
}

bool mapped_shared(const Mm& mm, Addr at, FrameId frame) {
  const FramePool& frames = mm.system.frames();
  const FrameId head = frames.head(frame);
  const std::uint32_t all = frames.references(head);
  switch (mm.profile().large_advice) {
    case LargeAdvice::this_page:
      return frames.at(frame).mappings() != 1;
    case LargeAdvice::first_page:
      return frames.at(head).mappings() != 1;
    case LargeAdvice::estimated:
      if (all <= 1) return false;
      return all > kHugePages || mapped_whole(frames, head) || frames.at(head).mappings() > 1;
    case LargeAdvice::by_process:
      return own_mappings(mm, at, head) != all;
  }
  return true;
}

}  // namespace faultline::mm
