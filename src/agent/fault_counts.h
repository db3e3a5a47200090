#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/counters.h"

namespace faultline::agent {

/// Counts the calling thread's faults. Where perf's software counter may be used it counts the exceptions; elsewhere
/// they are derived: an access takes as many as ru_minflt, ru_majflt and its signals say, a system call none.
class FaultCounts {
 public:
  /// Opens the counter for the calling thread.
  FaultCounts();
  ~FaultCounts();
  FaultCounts(const FaultCounts&) = delete;
  FaultCounts& operator=(const FaultCounts&) = delete;
  /// After a fork: the child counts for itself, from the totals reached so far.
  void reopen();

  /// Totals; only exceptions and minor_faults are filled.
  Counters read() const;
  static CounterSet known();

  /// Is the derivation in use? Then accesses report themselves to it.
  bool derives() const { return perf_ < 0; }
  /// Call before an access; the result goes to after_access.
  std::uint64_t before_access() const;
  void after_access(std::uint64_t before, std::uint64_t signals);

  /// What a reader of the figures must know.
  std::string note() const;

 private:
  void open();

  int perf_ = -1;
  bool user_only_ = false;     // perf may not see faults that the kernel takes for itself
  std::uint64_t derived_ = 0;  // exceptions
};

}  // namespace faultline::agent
