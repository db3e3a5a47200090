#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/counters.h"
#include "base/signal.h"
#include "program/position.h"
#include "run/plan.h"
#include "run/row.h"

/// Where a run writes what it finds: one block of memory of a size that is known beforehand, so that it can be shared
/// between processes and survives the one that is killed, and so that reporting never needs to allocate.
namespace faultline::run {

/// A text of limited length; what does not fit is cut.
template <std::size_t N>
struct FixedText {
  std::uint32_t length = 0;
  char bytes[N]{};

  void assign(std::string_view text) {
    length = static_cast<std::uint32_t>(text.size() < N ? text.size() : N);
    for (std::uint32_t i = 0; i < length; ++i) bytes[i] = text[i];
  }
  std::string_view view() const { return {bytes, length < N ? length : N}; }
};

/// One row's figures while the program runs. Its lock is for threads: two of them may execute the same line.
struct RowRecord {
  std::atomic<std::uint32_t> lock{0};
  std::uint32_t shaped = 0;  // before and after have been taken
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
  std::uint64_t counted_calls = 0;
  Counters counted;
  Shape before;
  Shape after;
  double predicted = 0;           // the sum over all executions
  double uncertainty = 0;         // of that sum
  std::uint64_t predictions = 0;  // executions that are in it
  std::uint64_t samples = 0;      // kept
  std::uint64_t dropped = 0;      // not kept, for want of room
  std::uint32_t first_chunk = 0;  // index + 1, 0 for none
  std::uint32_t last_chunk = 0;
};

struct CheckRecord {
  std::atomic<std::uint32_t> lock{0};
  std::uint64_t evaluations = 0;
  CheckStatus status = CheckStatus::skipped;  // until evaluated
  FixedText<240> detail;
};

struct SampleChunk {
  static constexpr std::uint32_t kCapacity = 62;
  std::uint32_t next = 0;  // index + 1, 0 for none
  std::uint32_t used = 0;
  std::atomic<std::uint32_t> touched{0};  // written only so that the page is there
  double values[kCapacity];
};

class Ledger {
 public:
  static constexpr std::uint64_t kMostSamplesPerRow = 1 << 16;
  static constexpr std::uint64_t kChunks = 1 << 17;  // 64 MiB, touched only as far as it is used

  /// Bytes that a ledger for this plan needs.
  static std::size_t bytes(const Plan& plan);
  /// Lays the ledger out in `memory`: at least bytes(plan), 64-byte aligned, and longer-lived than this object
  /// and its copies. The memory may be shared with forked processes.
  Ledger(const Plan& plan, std::span<std::byte> memory);

  RowRecord& row(std::uint32_t index) { return rows_[index]; }
  CheckRecord& check(std::uint32_t index) { return checks_[index]; }

  /// Adds one timed execution; thread-safe.
  void add_sample(std::uint32_t row, double value);
  /// Writes to the memory that the next samples will go to, so that they do not fault.
  void touch_ahead();
  /// Writes to all that is in use: needed where another process has made the ledger, and again where the kernel has
  /// write-protected it (clear_refs).
  void touch_used();
  /// The check does not concern this machine; that is not an evaluation.
  void passed_over(std::uint32_t check);
  /// Adds an evaluation of a check. `detail` is kept for the first failure, or the reason of the first skip.
  void evaluated(std::uint32_t check, CheckStatus status, std::string_view detail);

  /// The place in the program that is being executed.
  void at(program::Position position);
  program::Position position() const;
  std::uint64_t next_step() { return 1 + head_->steps.fetch_add(1, std::memory_order_relaxed); }
  std::uint32_t next_process() { return 1 + head_->processes.fetch_add(1, std::memory_order_relaxed); }

  /// Ends the run. Only the first ending counts.
  void end(Ending ending, program::Position position, std::string_view detail, std::optional<Signal> signal = {});
  /// Has anything ended it?
  bool ended() const { return head_->ended.load(std::memory_order_acquire) != 0; }
  /// What ended it; meaningful once ended() is true.
  Ending ending() const { return head_->ending; }

  void note(std::string_view text);
  void set_known(CounterSet known, Metric metric);
  CounterSet known() const;

  /// What has been recorded so far as a report; machine and kernel are left to the caller.
  Report report(const Plan& plan) const;

 private:
  struct Head {
    std::atomic<std::uint32_t> ended{0};
    Ending ending = Ending::failed;
    std::atomic<std::uint64_t> position{0};
    std::atomic<std::uint64_t> steps{0};
    std::atomic<std::uint32_t> processes{0};
    std::atomic<std::uint64_t> chunks{0};
    std::atomic<std::uint64_t> touched{0};
    program::Position ended_at;
    std::uint32_t has_signal = 0;
    Signal signal;
    FixedText<400> detail;
    std::uint32_t notes = 0;
    FixedText<240> note[8];
    CounterSet known;
    Metric metric = Metric::none;
  };

  std::vector<double> samples_of(const RowRecord& record) const;

  Head* head_ = nullptr;
  std::span<RowRecord> rows_;
  std::span<CheckRecord> checks_;
  std::span<SampleChunk> chunks_;
};

}  // namespace faultline::run
