#pragma once

#include <cstdint>

#include "base/errno.h"

namespace faultline::mm {

/// vm.overcommit_memory: what the kernel promises (proc_sys_vm(5)).
enum class Overcommit : std::uint8_t {
  heuristic,  // 0: whatever is not by itself more than the machine has
  always,     // 1: everything
  never,      // 2: no more in sum than the limit; MAP_NORESERVE is passed over
};

/// The memory that the machine has promised to private writable mappings and shared memory (Committed_AS), in pages.
class Commit {
 public:
  /// `pages` is RAM and swap for `heuristic`, the limit less all reserves for `never`; nothing for `always`.
  Commit(Overcommit policy, std::uint64_t pages) : policy_(policy), limit_(pages) {}

  Overcommit policy() const { return policy_; }
  /// Promises that much more, or ENOMEM.
  Result<void> charge(std::uint64_t pages) {
    const bool refused = (policy_ == Overcommit::heuristic && pages > limit_) ||
                         (policy_ == Overcommit::never && charged_ + pages >= limit_);
    if (refused) return fail(ENOMEM);
    charged_ += pages;
    return {};
  }
  /// The same without asking, for what is given back at once.
  void take(std::uint64_t pages) { charged_ += pages; }
  void give_back(std::uint64_t pages) { charged_ -= pages; }

  std::uint64_t charged() const { return charged_; }

 private:
  Overcommit policy_;
  std::uint64_t limit_;
  std::uint64_t charged_ = 0;
};

}  // namespace faultline::mm
