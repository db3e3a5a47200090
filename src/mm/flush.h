#pragma once

#include "base/page.h"
#include "mm/frame.h"

namespace faultline::mm {

struct Mm;

/// The TLB flushes of one call, gathered while entries change and performed together (mmu_gather): the one place where
/// flushes are counted.
class FlushBatch {
 public:
  explicit FlushBatch(Mm& mm) : mm_(mm) {}
  FlushBatch(const FlushBatch&) = delete;
  FlushBatch& operator=(const FlushBatch&) = delete;

  /// Translations in this range may be cached, one for each page of this size, and must go.
  void add(Range range, PageSize size = PageSize::base) {
    if (pending_.empty()) {
      pending_ = range;
      stride_ = size;
    } else {
      stride_ = std::min(stride_, size);
      pending_ = {std::min(pending_.start, range.start), std::max(pending_.end, range.end)};
    }
  }
  /// A page was unmapped, and will be freed once the translations are gone.
  void gather();
  /// The walk leaves a VMA. x86-64 gathers on across VMAs (MMU_GATHER_MERGE_VMAS); arm64 flushes here.
  void end_vma();
  /// Flushes what is pending, and frees the pages.
  void perform() {
    if (!pending_.empty()) flush();
    if (gathered_ != 0) free_gathered();
  }

 private:
  /// As a range or, above the architecture's ceiling of entries, whole.
  void flush();
  void free_gathered();

  Mm& mm_;
  Range pending_{};
  std::uint64_t gathered_ = 0;        // pages that wait to be freed
  PageSize stride_ = PageSize::base;  // the smallest page in what is pending
};

}  // namespace faultline::mm
