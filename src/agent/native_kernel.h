#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "agent/clear_refs.h"
#include "agent/fault_counts.h"
#include "agent/fault_guard.h"
#include "agent/meter.h"
#include "agent/own_memory.h"
#include "agent/process_memory.h"
#include "agent/system_call.h"
#include "agent/userfault_handler.h"
#include "run/kernel.h"
#include "run/ledger.h"

namespace faultline::agent {

/// What all threads of a process share.
struct ProcessState {
  run::Ledger* ledger;  // none where cases are played, whose records tell
  Meter meter;
  ProcessMemory memory;
  OwnMemory own;
  ClearRefsFile clear_refs;
  UserfaultHandlers handlers;
  bool settled;                        // own memory touched whole since the last fork
  std::span<std::byte> thread_stacks;  // for kMostThreads threads, empty when the program starts none
};

/// Real system calls and accesses of this process: the Kernel behind `live` and, as a guest, behind `vm`. One per
/// thread.
class NativeKernel {
 public:
  static constexpr run::Counting kCounting = run::Counting::disturbs;
  static constexpr std::uint64_t kMostAccesses = ~std::uint64_t{0};
  static constexpr std::uint64_t kMostThreads = 256;
  static constexpr std::size_t kThreadStack = 256 * 1024;

  explicit NativeKernel(ProcessState& process)
      : process_(process),
        meter_(process.meter),
        counts_(meter_.metric() == run::Metric::nanoseconds ? FaultCounts::Source::perf_if_permitted
                                                            : FaultCounts::Source::derived) {}

  std::optional<std::string> unsupported(const run::CallRequest& call) const;
  run::CallOutcome call(const run::CallRequest& call);
  std::optional<std::string> unsupported(const run::AccessRequest& access) const;
  run::AccessOutcome access(const run::AccessRequest& access);
  run::AccessOutcome place_code(Addr addr);

  void settle();
  Counters counters() { return counts_.read(); }
  CounterSet known() const { return FaultCounts::known(); }
  run::Metric metric() const { return meter_.metric(); }
  void operation_begins(std::uint32_t row, std::uint32_t flags) { meter_.operation_begins(row, flags); }
  void operation_ends() { meter_.operation_ends(); }
  void repetition_begins(std::uint32_t row) { meter_.repetition_begins(row); }
  void repetition_ends(std::uint32_t row, std::uint32_t flags) { meter_.repetition_ends(row, flags); }
  std::string counts_note() const { return counts_.note(); }

  run::Shape shape(Range range) { return process_.memory.shape(range); }
  run::ProbeAnswer vmas(std::optional<Range> range) { return process_.memory.count_areas(range); }
  run::ProbeAnswer resident(Range range) { return process_.memory.resident(range); }
  run::ProbeAnswer huge(Range range);
  run::ProbeAnswer perm(Addr addr);
  run::ProbeAnswer value(Addr addr) { return process_.memory.byte_at(addr); }
  run::ProbeAnswer state(Range range) { return process_.memory.state(range); }
  run::ProbeAnswer vm_flags(Addr addr) { return process_.memory.vm_flags(addr); }
  run::ProbeAnswer flags(Range range) { return process_.memory.flags(range); }
  run::ProbeAnswer soft_dirty(Range range) { return process_.memory.soft_dirty(range); }
  run::ProbeAnswer uffd_wp(Range range);
  run::ProbeAnswer named(Addr addr, std::string_view name) { return process_.memory.is_named(addr, name) ? 1 : 0; }
  run::ProbeAnswer pkey(Addr addr);
  run::ProbeAnswer max_map_count();

  run::KernelFailure child(std::string_view name, const std::function<void(NativeKernel&)>& body);
  bool exit_child(std::string_view name);
  run::KernelFailure threads(std::uint64_t count, const std::function<void(NativeKernel&, std::uint64_t)>& body);

  std::optional<std::string> broken() const { return std::nullopt; }

 private:
  struct LivingChild {
    std::string_view name;  // of the program's text
    int process = 0;
    int leave = -1;  // writing to it lets the child exit
  };

  /// A call of the language that is no system call of the same arguments.
  run::CallOutcome call_raw(const RawCall& raw, program::Sys sys);
  run::CallOutcome clear_refs(int number);
  run::CallOutcome pkey_set(std::uint64_t key, std::uint64_t rights);
  run::CallOutcome pkey_get(std::uint64_t key);
  run::CallOutcome ioctl(const run::CallRequest& call);
  /// Makes the accesses inside the timed window; faults jump out of it.
  void perform(const run::AccessRequest& access);
  template <class Work>
  run::AccessOutcome guarded(std::uint64_t instructions, Work work, std::uint64_t fetch_target = 0);
  [[noreturn]] void be_child(const std::function<void(NativeKernel&)>& body, int ready, int leave);
  void note_death(int status);

  ProcessState& process_;
  Meter meter_;  // the process's, with what this thread measures now
  FaultCounts counts_;
  FaultGuard guard_;
  std::array<LivingChild, 64> children_{};
  std::size_t child_count_ = 0;
};

}  // namespace faultline::agent
