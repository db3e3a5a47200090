#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/errno.h"
#include "base/page.h"
#include "mm/frame.h"

namespace faultline::mm {

struct Mm;
class System;

/// Pages of a process that the kernel holds for a device, for writing and for long (pin_user_pages with FOLL_WRITE and
/// FOLL_LONGTERM; A.8). They are held as long as this lives; the System outlives it.
class PinnedPages {
 public:
  explicit PinnedPages(System& system) : system_(system) {}
  ~PinnedPages();
  PinnedPages(const PinnedPages&) = delete;
  PinnedPages& operator=(const PinnedPages&) = delete;

  void add(FrameId frame);

 private:
  System& system_;
  std::vector<FrameId> frames_;
};

/// Pins the pages that `bytes` from `start` on touch, which are faulted in for writing first. EFAULT, with nothing
/// pinned, where a page may not be written.
Result<std::shared_ptr<PinnedPages>> do_pin(Mm& mm, Addr start, std::uint64_t bytes);

}  // namespace faultline::mm
