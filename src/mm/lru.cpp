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

bool MlockBatch::bury(FrameId page) {
  if (size() == 0) return false;
  const bool was_new = new_.bury(page);
  const auto end = pages_.begin() + waiting_;
  const auto gone = static_cast<std::uint32_t>(end - std::remove(pages_.begin(), end, page));
  waiting_ -= gone;
  buried_ += gone;
  if (gone != 0 && !was_new) ++dead_;
  return was_new || gone != 0;
}

MlockBatch::Emptied MlockBatch::empty(FramePool& frames) {
  const PageBatch::Emptied fresh = new_.empty(frames);
  const std::uint32_t pages = fresh.pages + waiting_ + buried_;
  const Emptied emptied{pages, pages - staying_, fresh.dead + dead_};
  waiting_ = 0;
  staying_ = 0;
  buried_ = 0;
  dead_ = 0;
  return emptied;
}

}  // namespace faultline::mm
