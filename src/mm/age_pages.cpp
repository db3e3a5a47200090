// MADV_FREE and MADV_COLD on the pages of one VMA: D.7, B.5.
#include "mm/calls.h"
#include "mm/huge.h"
#include "mm/page_lists.h"

namespace faultline::mm {
namespace {

/// Entries from `at` on that map consecutive pages of one large folio (folio_pte_batch). In one VMA nothing else can
/// tell two of them apart.
std::uint64_t batch_length(const Mm& mm, Range part, Pte first) {
  std::uint64_t length = 1;
  const FrameId head = mm.system.frames().head(first.frame());
  for (Addr at = part.start + kPageSize; at < part.end; at = at + kPageSize, ++length) {
    const Pte pte = mm.table.get(at);
    const bool follows = pte.present() && pte.frame().index == first.frame().index + length;
    if (!follows || mm.system.frames().head(pte.frame()) != head) break;
  }
  return length;
}

/// What is to become of entries that map a large folio.
enum class Step : std::uint8_t { age, skip, split, stop };

Step step_for(const Mm& mm, Addr at, Pte pte, std::uint64_t batch) {
  const LargeAdvice policy = mm.profile().large_advice;
  if (policy == LargeAdvice::this_page || policy == LargeAdvice::first_page) {
    return mapped_shared(mm, at, pte.frame()) ? Step::stop : Step::split;
  }
  if (batch == kHugePages) return Step::age;
  return mapped_shared(mm, at, pte.frame()) ? Step::skip : Step::split;
}

/// One table's worth of a VMA.
class Walk {
 public:
  Walk(Mm& mm, Aging aging, FlushBatch& flush) : mm_(mm), aging_(aging), flush_(flush) {}

  void over(Range part) {
    const Pte huge = mm_.table.get(part.start);
    if (huge.huge() && !over_huge(part, huge)) return;
    if (!mm_.table.has_table(part.start)) return;
    mm_.count(Counter::ptes_scanned, part.pages());
    for (Addr at = part.start; at < part.end;) {
      const std::uint64_t done = over_pages({at, part.end});
      if (done == kStop) return;
      at = at + done * kPageSize;
    }
  }

 private:
  static constexpr std::uint64_t kStop = ~std::uint64_t{0};

  /// True where it was split, and its parts come next.
  bool over_huge(Range part, Pte huge) {
    mm_.count(Counter::ptes_scanned);
    if (huge.zero_page() || mapped_shared(mm_, part.start, huge.frame())) return false;
    if (part.bytes() != kHugeBytes) {
      if (mm_.frames().pinned(huge.frame())) return false;  // its references cannot be told apart any more
      split_folio(mm_, part.start);
      return true;
    }
    age(part.start, huge);
    return false;
  }

  /// How many pages are done: 0 where the folio was split first.
  std::uint64_t over_pages(Range part) {
    const Pte pte = mm_.table.get(part.start);
    if (!pte.present()) return 1;
    if (pte.zero_page()) {
      mm_.count(Counter::pages_found);
      return 1;
    }
    std::uint64_t pages = 1;
    if (mm_.frames().is_large(pte.frame())) {
      pages = batch_length(mm_, part, pte);
      switch (step_for(mm_, part.start, pte, pages)) {
        case Step::age:
          break;
        case Step::skip:
          return pages;
        case Step::stop:
          return kStop;
        case Step::split:
          if (mm_.frames().pinned(pte.frame())) return pages;
          split_folio(mm_, part.start);
          return 0;
      }
    }
    for (std::uint64_t i = 0; i < pages; ++i) {
      const Addr at = part.start + i * kPageSize;
      age(at, mm_.table.get(at));
    }
    return pages;
  }

  void age(Addr at, Pte pte) {
    mm_.count(Counter::pages_found);
    // Nothing is reclaimed, so that nobody sees how old a page is.
    if (aging_ == Aging::cold || !pte.has(Pte::kYoung | Pte::kDirty)) return;
    mm_.table.set(at, pte.without(Pte::kYoung | Pte::kDirty));
    mm_.count(Counter::ptes_changed);
    if (Frame& frame = mm_.frames().at(pte.frame()); !frame.lazily_freed()) {
      frame.set_lazily_freed();
      add_to_lazyfree(mm_, pte.frame());
    }
    forget_translation(mm_, at, pte);
    flush_.add(mapped_range(at, pte), pte.size());
  }

  Mm& mm_;
  Aging aging_;
  FlushBatch& flush_;
};

}  // namespace

void age_pages(Mm& mm, Range part, Aging aging, FlushBatch& flush) {
  drain_lru(mm);
  Walk walk(mm, aging, flush);
  for (Addr at = part.start; at < part.end;) {
    const Range table = part.intersect(Range::of(huge_floor(at), kHugeBytes));
    walk.over(table);
    at = table.end;
  }
}

}  // namespace faultline::mm
