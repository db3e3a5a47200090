#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/counters.h"

namespace faultline::agent {

/// Counts the calling thread's faults. Where perf's software counter may be used it counts the exceptions; elsewhere
/// they are derived: an access, and a system call that copies to or from the program's memory, takes as many as
/// ru_minflt, ru_majflt and its signals say; another system call none.
class FaultCounts {
 public:
  /// Where exceptions are taken from. perf costs each fault about two hundred instructions.
  enum class Source : std::uint8_t { perf_if_permitted, derived };
  /// Opens the counter for the calling thread.
  explicit FaultCounts(Source source);
  ~FaultCounts();
  FaultCounts(const FaultCounts&) = delete;
  FaultCounts& operator=(const FaultCounts&) = delete;
  /// After a fork: the child counts for itself, from the totals reached so far.
  void reopen();

  /// Totals; only exceptions and minor_faults are filled.
  Counters read() const;
  /// Does what is not the program's work: none of its faults are counted.
  template <class Work>
  void leave_out(Work work) {
    const Counters before = read();
    work();
    left_out_ += read() - before;
  }
  static CounterSet known();

  /// Is the derivation in use? Then what may fault reports itself to it.
  bool derives() const { return perf_ < 0; }
  /// Call before an access; the result goes to after_access.
  std::uint64_t before_access() const;
  void after_access(std::uint64_t before, std::uint64_t signals);

  /// What a reader of the figures must know; empty where someone else counts.
  std::string note() const;

 private:
  void open();

  Source source_;
  int perf_ = -1;
  bool user_only_ = false;  // perf may not see faults that the kernel takes for itself
  Counters left_out_;
  std::uint64_t derived_ = 0;  // exceptions
};

}  // namespace faultline::agent
