#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "run/call_range.h"
#include "run/context.h"
#include "run/kernel.h"
#include "run/marks.h"

namespace faultline::run {

/// Executes single operations on a kernel and records what they did. One per process and thread of a run.
template <Kernel K>
class Operations {
 public:
  Operations(Context& context, K& kernel, std::uint32_t process, MeasureFrame* frame, Sampling sampling)
      : context_(context), kernel_(kernel), process_(process), frame_(frame), foreign_(frame), sampling_(sampling) {}

  CallOutcome call(const PlannedStatement& planned, const CallRequest& request) {
    return operation<CallOutcome>(
        planned, std::span(request.arguments).first(request.count), range_before(request),
        [&] { return kernel_.call(request); },
        [&](const CallOutcome& outcome, StepOutcome& step) {
          step.value = outcome.value;
          step.error = outcome.error;
          return range_after(request, outcome);
        });
  }

  AccessOutcome access(const PlannedStatement& planned, const AccessRequest& request,
                       std::span<const std::uint64_t> arguments) {
    return operation<AccessOutcome>(
        planned, arguments, range_of(request), [&] { return batches(request); },
        [&](const AccessOutcome& outcome, StepOutcome& step) {
          step.signal = outcome.signal;
          return range_of(request);
        });
  }

  AccessOutcome place_code(const PlannedStatement& planned, Addr addr) {
    const std::uint64_t argument = addr.value;
    const AccessRequest store{AccessKind::store, addr, 1, kPageSize, 0, {}};
    return operation<AccessOutcome>(
        planned, std::span(&argument, 1), range_of(store), [&] { return kernel_.place_code(addr); },
        [&](const AccessOutcome& outcome, StepOutcome& step) {
          step.signal = outcome.signal;
          return range_of(store);
        });
  }

  Context& context() { return context_; }
  K& kernel() { return kernel_; }
  MeasureFrame*& frame() { return frame_; }
  Sampling& sampling() { return sampling_; }

  /// Has the time limit passed, or does somebody want an end? Then the run is over. Looks at the clock only now and
  /// then.
  Flow look_at_clock(program::Position position) {
    if (!context_.deadline) return Flow::go_on;
    return ended_from_outside(position, ++looks_ % 64 == 0 ? Look::at_clock_too : Look::at_stop) ? Flow::stop
                                                                                                 : Flow::go_on;
  }

 private:
  /// `perform` is the timed work; `describe` fills in the step's outcome and gives the range that was worked on.
  template <class Outcome, class Perform, class Describe>
  Outcome operation(const PlannedStatement& planned, std::span<const std::uint64_t> arguments,
                    std::optional<Range> before, Perform perform, Describe describe) {
    Ledger& ledger = context_.ledger;
    RowRecord& record = ledger.row(planned.row);
    ledger.at(planned.statement->position);
    const std::uint64_t number = ledger.next_step();
    const bool first = std::atomic_ref(record.shaped).exchange(1, std::memory_order_relaxed) == 0;
    if (first && before) record.before = kernel_.shape(*before);

    const Step step{number, process_, planned.statement, arguments};
    if (context_.listener != nullptr) context_.listener->begin(step);
    const bool counting = sampling_ != Sampling::time_only;
    Counters counted;
    if (counting) counted = kernel_.counters();
    if constexpr (WatchedKernel<K>) kernel_.operation_begins(planned.row, mark_flags());
    const Outcome outcome = perform();
    if constexpr (WatchedKernel<K>) kernel_.operation_ends();
    if (counting) counted = kernel_.counters() - counted;

    StepOutcome step_outcome;
    const std::optional<Range> after = describe(outcome, step_outcome);
    if (first && after) record.after = kernel_.shape(*after);
    record_execution(planned.row, step_outcome, counted, outcome.amount, outcome.uncertainty);
    if (context_.listener != nullptr) {
      step_outcome.counted = counted;
      context_.listener->end(step, step_outcome);
    }
    if (const auto broken = kernel_.broken()) {
      ledger.end(Ending::failed, planned.statement->position, "the model's state does not hold: " + *broken);
    }
    return outcome;
  }

  std::uint32_t mark_flags() const {
    return (timed() ? kSampledFlag : 0) | (sampling_ != Sampling::time_only ? kCountedFlag : 0);
  }

  bool timed() const { return sampling_ != Sampling::count_only && kernel_.metric() != Metric::none; }

  void record_execution(std::uint32_t row, const StepOutcome& outcome, const Counters& counted, double amount,
                        std::optional<double> uncertainty) {
    RowRecord& record = context_.ledger.row(row);
    const bool failed = outcome.error || outcome.signal;
    add(record, [&] {
      ++record.calls;
      if (failed) ++record.failures;
      if (sampling_ != Sampling::time_only) {
        record.counted += counted;
        ++record.counted_calls;
      }
    });
    if (sampling_ != Sampling::time_only) add_to_frames(counted);
    const bool has_amount = predicts() ? uncertainty.has_value() : timed();
    if (has_amount) add_amount(row, amount, uncertainty.value_or(0));
    for (MeasureFrame* frame = frame_; frame != foreign_; frame = frame->outer) {
      frame->amount += amount;
      frame->uncertainty += uncertainty.value_or(0);
      if (!has_amount) frame->timed = MeasureFrame::Timed::not_all;
    }
  }

  bool predicts() const { return kernel_.metric() == Metric::predicted; }

 public:
  /// Measured and counted amounts are kept one by one; predicted ones add up.
  void add_amount(std::uint32_t row, double amount, double uncertainty) {
    if (!predicts()) return context_.ledger.add_sample(row, amount);
    RowRecord& record = context_.ledger.row(row);
    add(record, [&] {
      record.predicted += amount;
      record.uncertainty += uncertainty;
      ++record.predictions;
    });
  }

  /// Adds to the measure blocks around that sum up their operations.
  void add_to_frames(const Counters& counted) {
    for (MeasureFrame* frame = frame_; frame != nullptr; frame = frame->outer) {
      if (frame->counts == MeasureFrame::Counts::by_repetition) break;
      RowRecord& record = context_.ledger.row(frame->row);
      add(record, [&] { record.counted += counted; });
    }
  }

  /// Changes a record that other threads may be changing.
  template <class Change>
  static void add(RowRecord& record, Change change) {
    while (record.lock.exchange(1, std::memory_order_acquire) != 0) {
    }
    change();
    record.lock.store(0, std::memory_order_release);
  }

 private:
  enum class Look : std::uint8_t { at_stop, at_clock_too };

  bool ended_from_outside(program::Position position, Look look) {
    if (context_.stop.stop_requested()) {
      context_.ledger.end(Ending::interrupted, position, "");
      return true;
    }
    if (look == Look::at_stop || !context_.deadline || std::chrono::steady_clock::now() < *context_.deadline) {
      return false;
    }
    context_.ledger.end(Ending::timeout, position, "the time limit passed");
    return true;
  }

  AccessOutcome batches(const AccessRequest& request) {
    AccessRequest batch = request;
    AccessOutcome total{{}, 0, 0.0};
    std::uint64_t left = request.count;
    while (true) {
      batch.count = std::min<std::uint64_t>(left, K::kMostAccesses);
      const AccessOutcome outcome = kernel_.access(batch);
      total.amount += outcome.amount;
      total.uncertainty = total.uncertainty && outcome.uncertainty
                              ? std::optional(*total.uncertainty + *outcome.uncertainty)
                              : std::nullopt;
      total.signal = outcome.signal;
      left -= batch.count;
      if (left == 0 || outcome.signal) return total;
      batch.address = batch.address + batch.count * batch.stride;
      if (ended_from_outside(context_.ledger.position(), Look::at_clock_too)) return total;
    }
  }

  Context& context_;
  K& kernel_;
  std::uint32_t process_;
  MeasureFrame* frame_;
  const MeasureFrame* foreign_;  // belongs, with all outside of it, to the thread or process that started this one
  Sampling sampling_;
  std::uint64_t looks_ = 0;
};

}  // namespace faultline::run
