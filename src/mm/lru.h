#pragma once

#include <array>
#include <cstdint>

#include "mm/frame.h"

namespace faultline::mm {

/// Pages that gather before the kernel moves them between its lists together (struct folio_batch). The batch holds each
/// of them: one that nobody maps any more lives on until the batch is emptied.
class PageBatch {
 public:
  struct Emptied {
    std::uint32_t pages = 0;
    std::uint32_t dead = 0;  // of them: freed while they waited
  };

  std::uint32_t size() const { return waiting_ + dead_; }
  void add(FramePool& frames, FrameId page);
  /// The last mapping of the page went. Was it on this batch?
  bool bury(FrameId page);
  Emptied empty(FramePool& frames);

  static constexpr std::size_t kMost = 31;  // of any kernel's batches

 private:
  std::array<FrameId, kMost> pages_;
  std::uint32_t waiting_ = 0;
  std::uint32_t dead_ = 0;
};

/// Pages that wait for the list of those that are not reclaimed, or to leave it (mlock_fbatch). One may wait twice: for
/// being locked, and for being locked no more.
class MlockBatch {
 public:
  std::uint32_t size() const { return new_.size() + waiting_ + buried_; }
  /// A page that is on no list yet.
  void add_new(FramePool& frames, FrameId page) { new_.add(frames, page); }
  /// One that will be moved, or that is found where it belongs.
  enum class Moves : std::uint8_t { no, yes };
  void add(FrameId page, Moves moves) {
    pages_[waiting_++] = page;
    if (moves == Moves::no) ++staying_;
  }
  /// The last mapping of the page went. Was it on this batch?
  bool bury(FrameId page);
  struct Emptied {
    std::uint32_t pages = 0;
    std::uint32_t moved = 0;  // of them: to another list
    std::uint32_t dead = 0;   // freed while they waited
  };
  Emptied empty(FramePool& frames);

 private:
  PageBatch new_;
  std::array<FrameId, PageBatch::kMost> pages_;
  std::uint32_t waiting_ = 0;
  std::uint32_t staying_ = 0;
  std::uint32_t buried_ = 0;  // entries of pages that were freed while they waited
  std::uint32_t dead_ = 0;    // such pages
};

}  // namespace faultline::mm
