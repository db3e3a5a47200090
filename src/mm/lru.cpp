#include "mm/lru.h"

#include <algorithm>
#include <cassert>

namespace faultline::mm {

void PageBatch::add(FramePool& frames, FrameId page) {
  assert(size() < kMost);
  frames.at(page).set_on_batch(OnBatch::yes);
  pages_[waiting_++] = page;
}

bool PageBatch::bury(FrameId page) {
  const auto end = pages_.begin() + waiting_;
  const auto found = std::find(pages_.begin(), end, page);
  if (found == end) return false;
  *found = pages_[--waiting_];
  ++dead_;
  return true;
}

PageBatch::Emptied PageBatch::empty(FramePool& frames) {
  const Emptied emptied{size(), dead_};
  for (std::uint32_t i = 0; i < waiting_; ++i) frames.at(pages_[i]).set_on_batch(OnBatch::no);
  waiting_ = 0;
  dead_ = 0;
  return emptied;
}

}  // namespace faultline::mm
