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

 private:
  static constexpr std::size_t kMost = 31;  // of any kernel's batches

  std::array<FrameId, kMost> pages_;
  std::uint32_t waiting_ = 0;
  std::uint32_t dead_ = 0;
};

}  // namespace faultline::mm
