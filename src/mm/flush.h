#pragma once

#include "base/page.h"
#include "mm/profile.h"

namespace faultline::mm {

struct Mm;

/// The TLB flushes of one call, gathered while entries change and performed together (mmu_gather): the one place where
/// flushes are counted.
class FlushBatch {
 public:
  explicit FlushBatch(Mm& mm) : mm_(mm) {}
  FlushBatch(const FlushBatch&) = delete;
  FlushBatch& operator=(const FlushBatch&) = delete;

  /// A translation in this range may be cached and must go.
  void add(Range range) {
    if (pending_.empty()) {
      pending_ = range;
    } else {
      pending_ = {std::min(pending_.start, range.start), std::max(pending_.end, range.end)};
    }
  }
  /// The walk leaves a VMA. x86-64 gathers on across VMAs (MMU_GATHER_MERGE_VMAS); arm64 flushes here.
  void end_vma();
  /// Flushes what is pending, as a range or, above the architecture's ceiling, whole.
  void perform();

 private:
  Mm& mm_;
  Range pending_{};
};

}  // namespace faultline::mm
