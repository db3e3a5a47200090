#pragma once

#include <cstdint>

#include "mm/frame.h"
#include "mm/profile.h"

namespace faultline::mm {

/// What an administrator may set, with the kernel's defaults.
struct Tunables {
  std::uint64_t max_map_count = 65530;      // vm.max_map_count
  std::uint64_t mmap_min_addr = 64 * 1024;  // vm.mmap_min_addr
};

/// One machine: the physical memory that its address spaces share, and the kernel that manages it. Outlives them.
class System {
 public:
  explicit System(Profile profile, Tunables tunables = {}) : profile_(std::move(profile)), tunables_(tunables) {}
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  const Profile& profile() const { return profile_; }
  const Tunables& tunables() const { return tunables_; }
  FramePool& frames() { return frames_; }
  const FramePool& frames() const { return frames_; }
  /// A new anon_vma identity; never 0.
  std::uint64_t next_anon_vma() { return ++last_anon_vma_; }

 private:
  Profile profile_;
  Tunables tunables_;
  FramePool frames_;
  std::uint64_t last_anon_vma_ = 0;
};

}  // namespace faultline::mm
