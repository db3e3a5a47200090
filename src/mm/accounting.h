#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/errno.h"

namespace faultline::mm {

/// vm.overcommit_memory: what the kernel promises (proc_sys_vm(5)).
enum class Overcommit : std::uint8_t {
  heuristic,  // 0: whatever is not by itself more than the machine has
  always,     // 1: everything
  never,      // 2: no more in sum than the limit; MAP_NORESERVE is passed over
};
/// The names of its values, as options of machines have them.
inline constexpr auto kOvercommitNames = std::to_array<std::string_view>({"heuristic", "always", "never"});

/// How much may be promised, in pages; without end unless said. D.15.
struct CommitLimits {
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

  std::uint64_t machine = kUnlimited;  // RAM and swap, for Overcommit::heuristic
  std::uint64_t total = kUnlimited;    // for Overcommit::never, less what is kept for the administrator
  std::uint64_t user_reserve = 0;      // the most that a process may not take of it: a 32nd of what it has mapped
};

/// The memory that the machine has promised to private writable mappings and shared memory (Committed_AS), in pages.
class Commit {
 public:
  Commit(Overcommit policy, CommitLimits limits) : policy_(policy), limits_(limits) {}

  Overcommit policy() const { return policy_; }
  /// Promises that much more to a process that has `mapped` pages mapped already, or ENOMEM (__vm_enough_memory).
  Result<void> charge(std::uint64_t pages, std::uint64_t mapped = 0) {
    const bool refused = (policy_ == Overcommit::heuristic && pages > limits_.machine) ||
                         (policy_ == Overcommit::never && charged_ + as_signed(pages) >= as_signed(allowed(mapped)));
    if (refused) return fail(ENOMEM);
    take(pages);
    return {};
  }
  /// The same without asking, for what is given back at once.
  void take(std::uint64_t pages) { charged_ += as_signed(pages); }
  void give_back(std::uint64_t pages) { charged_ -= as_signed(pages); }

  /// Less than nothing where 5.10 gave back what was never promised (RemapCharge::next_too).
  std::int64_t charged() const { return charged_; }

 private:
  static std::int64_t as_signed(std::uint64_t pages) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(pages, std::numeric_limits<std::int64_t>::max()));
  }
  std::uint64_t allowed(std::uint64_t mapped) const {
    const std::uint64_t kept = std::min(mapped / 32, limits_.user_reserve);
    return limits_.total - std::min(limits_.total, kept);
  }

  Overcommit policy_;
  CommitLimits limits_;
  std::int64_t charged_ = 0;
};

}  // namespace faultline::mm
