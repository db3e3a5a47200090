#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/counters.h"
#include "base/errno.h"
#include "base/flags.h"
#include "base/page.h"
#include "base/signal.h"
#include "program/syscall.h"
#include "run/row.h"

/// What the executor needs of a machine: real system calls, or the model's.
namespace faultline::run {

struct CallRequest {
  program::Sys sys{};
  std::array<std::uint64_t, 6> arguments{};  // those left out are 0
  std::uint32_t count = 0;                   // of arguments that the program gave
  std::uint32_t strings = 0;                 // a bit for each that it gave as a string: the address of its text
};

struct CallOutcome {
  std::uint64_t value = 0;     // the result; the bits of -errno when it failed
  std::optional<Errno> error;  // when it failed
  /// In the machine's metric; 0 where it has none. Nanoseconds: of the timed window, the clock's own cost removed.
  /// Instructions: the operation's own, without those of the kernel.
  double amount = 0;
  /// Of a predicted amount: by how much it may be wrong. Nothing where the machine cannot predict this operation.
  std::optional<double> uncertainty{};
};
/// That of a call that failed.
inline CallOutcome call_failure(Errno error) { return {0 - static_cast<std::uint64_t>(error.value), error, 0}; }

/// `count` accesses at address, address + stride, …
struct AccessRequest {
  AccessKind kind{};
  Addr address;
  std::uint64_t count = 0;
  std::uint64_t stride = 0;
  std::uint64_t value = 0;   // stored, or added
  std::optional<Addr> text;  // the page whose instructions make the access
};

struct AccessOutcome {
  std::optional<Signal> signal;  // what ended it early
  double amount = 0;             // as in CallOutcome
  std::optional<double> uncertainty{};
};

/// An answer, or why this machine cannot give one.
using ProbeAnswer = std::expected<std::uint64_t, std::string>;
/// Nothing on success, else what failed.
using KernelFailure = std::optional<std::string>;

/// Does counting around an operation disturb its timing? Then the executor does one or the other (see Sampling).
enum class Counting : std::uint8_t { disturbs, is_free };

/// A kernel whose figures are taken from outside of it, by someone who has to be told what they belong to. Rows are
/// indices into the plan's, flags those of run/marks.h; repetitions are those of measure blocks.
template <class K>
concept WatchedKernel = requires(K kernel, std::uint32_t row, std::uint32_t flags) {
  kernel.operation_begins(row, flags);
  kernel.operation_ends();
  kernel.repetition_begins(row);
  kernel.repetition_ends(row, flags);
};

template <class K>
concept Kernel = requires(K kernel, const CallRequest& call, const AccessRequest& access, Addr addr, Range range,
                          std::optional<Range> maybe_range, std::string_view name, std::uint64_t n,
                          std::function<void(K&)> body, std::function<void(K&, std::uint64_t)> thread_body) {
  { K::kCounting } -> std::convertible_to<Counting>;
  /// The executor splits longer runs of accesses, so that it can look at the time limit in between.
  { K::kMostAccesses } -> std::convertible_to<std::uint64_t>;

  /// Nothing when the machine can do the call, else which call it cannot: "mremap".
  { kernel.unsupported(call) } -> std::same_as<std::optional<std::string>>;
  { kernel.call(call) } -> std::same_as<CallOutcome>;
  { kernel.unsupported(access) } -> std::same_as<std::optional<std::string>>;
  { kernel.access(access) } -> std::same_as<AccessOutcome>;
  /// Writes the access routines to the page at addr.
  { kernel.place_code(addr) } -> std::same_as<AccessOutcome>;

  /// Gets ready for a stretch in which everything that this process does is counted.
  { kernel.settle() } -> std::same_as<void>;
  /// Running totals of the calling thread; only those in known() mean anything.
  { kernel.counters() } -> std::same_as<Counters>;
  { kernel.known() } -> std::same_as<CounterSet>;
  { kernel.metric() } -> std::same_as<Metric>;

  { kernel.shape(range) } -> std::same_as<Shape>;
  { kernel.vmas(maybe_range) } -> std::same_as<ProbeAnswer>;
  { kernel.resident(range) } -> std::same_as<ProbeAnswer>;
  { kernel.huge(range) } -> std::same_as<ProbeAnswer>;
  { kernel.perm(addr) } -> std::same_as<ProbeAnswer>;
  { kernel.value(addr) } -> std::same_as<ProbeAnswer>;
  { kernel.state(range) } -> std::same_as<ProbeAnswer>;
  /// The flags of the mapping there as a set of base/vm_flags.h, and one number for those of all mappings of a range.
  { kernel.vm_flags(addr) } -> std::same_as<ProbeAnswer>;
  { kernel.flags(range) } -> std::same_as<ProbeAnswer>;
  { kernel.soft_dirty(range) } -> std::same_as<ProbeAnswer>;
  { kernel.uffd_wp(range) } -> std::same_as<ProbeAnswer>;
  { kernel.named(addr, name) } -> std::same_as<ProbeAnswer>;
  { kernel.pkey(addr) } -> std::same_as<ProbeAnswer>;
  { kernel.max_map_count() } -> std::same_as<ProbeAnswer>;

  /// Forks. The child runs `body` with its own kernel; this returns when the body has ended. A child without a name is
  /// gone then, one with a name lives until exit_child.
  { kernel.child(name, body) } -> std::same_as<KernelFailure>;
  /// False when no child of that name lives.
  { kernel.exit_child(name) } -> std::same_as<bool>;
  /// Runs `thread_body` n times at once (or, where time does not matter, in turn), each with its own kernel.
  { kernel.threads(n, thread_body) } -> std::same_as<KernelFailure>;

  /// What is wrong with the machine's own state after an operation; nothing where that is not looked at.
  { kernel.broken() } -> std::same_as<std::optional<std::string>>;
};

}  // namespace faultline::run
