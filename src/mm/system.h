#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "mm/accounting.h"
#include "mm/frame.h"
#include "mm/lru.h"
#include "mm/profile.h"
#include "mm/vma.h"

namespace faultline::mm {

struct Mm;

/// What an administrator may set, with the kernel's defaults.
struct Tunables {
  std::uint64_t max_map_count = 65530;      // vm.max_map_count
  std::uint64_t mmap_min_addr = 64 * 1024;  // vm.mmap_min_addr
  /// In place of what the profile says.
  std::optional<Overcommit> overcommit{};
  std::optional<CommitLimits> commit_limits{};
};

/// One machine: the physical memory that its address spaces share, and the kernel that manages it. Outlives them.
class System {
 public:
  explicit System(Profile profile, Tunables tunables = {})
      : profile_(std::move(profile)),
        tunables_(tunables),
        commit_(tunables.overcommit.value_or(profile_.overcommit),
                tunables.commit_limits.value_or(mm::commit_limits(profile_))) {}
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  const Profile& profile() const { return profile_; }
  const Tunables& tunables() const { return tunables_; }
  FramePool& frames() { return frames_; }
  const FramePool& frames() const { return frames_; }
  /// What has been promised (vm.overcommit_memory).
  Commit& commit() { return commit_; }
  const Commit& commit() const { return commit_; }
  VmaNames& vma_names() { return vma_names_; }
  const VmaNames& vma_names() const { return vma_names_; }
  /// A new anon_vma identity; never 0.
  AnonVma next_anon_vma() {
    if (++last_anon_vma_ == 0) throw std::length_error("more than 2^32 anon_vmas");
    return last_anon_vma_;
  }

  /// The address spaces that live on this machine: an object's change has to be seen in each that maps it.
  std::span<Mm* const> spaces() const { return spaces_; }
  void add_space(Mm* mm) { spaces_.push_back(mm); }
  void remove_space(Mm* mm) { std::erase(spaces_, mm); }

  /// New pages that are not on the LRU lists yet.
  PageBatch& lru_add() { return lru_add_; }
  /// Pages of MADV_FREE that have not been moved yet.
  PageBatch& lru_lazyfree() { return lru_lazyfree_; }
  /// Pages that were locked, or are locked no more, and have not been moved yet.
  MlockBatch& mlock_batch() { return mlock_batch_; }

 private:
  Profile profile_;
  Tunables tunables_;
  FramePool frames_;
  Commit commit_;
  VmaNames vma_names_;
  AnonVma last_anon_vma_ = 0;
  PageBatch lru_add_;
  PageBatch lru_lazyfree_;
  MlockBatch mlock_batch_;
  std::vector<Mm*> spaces_;
};

}  // namespace faultline::mm
