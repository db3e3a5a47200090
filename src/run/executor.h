#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "run/check.h"
#include "run/context.h"
#include "run/evaluate.h"
#include "run/kernel.h"
#include "run/kernel_probes.h"
#include "run/marks.h"
#include "run/operations.h"

namespace faultline::run {

/// Interprets a program on a kernel: one piece of code for every machine. What it finds goes to the context's ledger;
/// how it ended, too. One Executor per process and thread.
template <Kernel K>
class Executor {
 public:
  Executor(Context& context, K& kernel)
      : Executor(context, kernel, std::vector<std::uint64_t>(context.program.slots.size()), 0, nullptr,
                 Sampling::both) {}

  /// Runs the whole program and records its ending.
  void run() {
    context_.ledger.set_known(kernel_.known(), kernel_.metric());
    context_.ledger.touch_ahead();
    context_.ledger.touch_used();
    if (block(context_.plan.body) == Flow::go_on) context_.ledger.end(Ending::completed, {}, "");
  }

 private:
  using Slots = std::vector<std::uint64_t>;

  Executor(Context& context, K& kernel, Slots slots, std::uint32_t process, MeasureFrame* frame, Sampling sampling)
      : context_(context),
        kernel_(kernel),
        slots_(std::move(slots)),
        probes_(context, kernel),
        process_(process),
        operations_(context, kernel, process, frame, sampling) {}

  Flow block(const std::vector<PlannedStatement>& statements) {
    for (const PlannedStatement& planned : statements) {
      const Flow flow = std::visit([&](const auto& node) { return execute(planned, node); }, planned.statement->node);
      if (flow == Flow::stop || context_.ledger.ended()) return Flow::stop;
      if (operations_.look_at_clock(planned.statement->position) == Flow::stop) return Flow::stop;
    }
    return Flow::go_on;
  }

  Flow stop(Ending ending, program::Position position, std::string_view detail, std::optional<Signal> signal = {}) {
    context_.ledger.end(ending, position, detail, signal);
    return Flow::stop;
  }
  Flow stop(const EvalError& error) {
    return stop(error.kind == EvalFailure::misuse ? Ending::misuse : Ending::unsupported, error.position,
                error.message);
  }

  Value value(const program::Expr& expr) { return evaluate(expr, slots_, probes_); }
  Value value_or(const program::ExprPtr& expr, std::uint64_t otherwise) {
    return expr == nullptr ? Value(otherwise) : value(*expr);
  }

  Flow execute(const PlannedStatement&, const program::Param& param) {
    for (const auto& [name, replacement] : context_.params) {
      if (name != param.name) continue;
      slots_[param.slot.index] = replacement;
      return Flow::go_on;
    }
    return bind(param.slot, *param.value);
  }

  Flow execute(const PlannedStatement&, const program::Let& let) { return bind(let.slot, *let.value); }

  Flow bind(program::Slot slot, const program::Expr& expr) {
    const Value bound = value(expr);
    if (!bound) return stop(bound.error());
    slots_[slot.index] = *bound;
    return Flow::go_on;
  }

  Flow execute(const PlannedStatement& planned, const program::SystemCall& call) {
    CallRequest request{call.sys, {}, 0};
    if (call.arguments.size() > request.arguments.size()) {
      return stop(Ending::misuse, planned.statement->position, "too many arguments");
    }
    for (const program::ExprPtr& argument : call.arguments) {
      const Value evaluated = value(*argument);
      if (!evaluated) return stop(evaluated.error());
      if (std::holds_alternative<program::StringLiteral>(argument->node)) request.strings |= 1U << request.count;
      request.arguments[request.count++] = *evaluated;
    }
    if (const auto what = kernel_.unsupported(request)) return unsupported(planned, *what);
    const CallOutcome outcome = operations_.call(planned, request);
    if (call.result_slot) slots_[call.result_slot->index] = outcome.value;
    if (!call.assertion) return Flow::go_on;
    return assertion(planned, *call.assertion, [&](std::optional<std::uint64_t> expected) {
      return contradiction(*call.assertion, expected, outcome);
    });
  }

  Flow execute(const PlannedStatement& planned, const program::Access& access) {
    const Value address = value(*access.address);
    const Value stride = value_or(access.stride, kPageSize);
    // Without a length one access: any length up to the stride is one.
    const Value length = value_or(access.length, 1);
    const Value operand = value_or(access.value, 1);
    const Value text = value_or(access.text, 0);
    for (const Value* v : {&address, &length, &stride, &operand, &text}) {
      if (!*v) return stop(v->error());
    }
    const program::Position position = planned.statement->position;
    if (*stride == 0) return stop(Ending::misuse, position, "a stride of 0");
    AccessRequest request{access.kind, Addr{*address}, 0, *stride, *operand, {}};
    request.count = *length / *stride + (*length % *stride != 0 ? 1 : 0);
    if (access.text != nullptr) request.text = Addr{*text};
    if (access.kind == AccessKind::atomic && (*address % 8 != 0 || *stride % 8 != 0)) {
      return stop(Ending::misuse, position,
                  "an atomic on " + value_text(*address) + " with stride " + value_text(*stride) +
                      ": both have to be multiples of 8");
    }
    if (const auto what = kernel_.unsupported(request)) return unsupported(planned, *what);
    const std::array<std::uint64_t, 5> arguments{*address, *length, *stride, *operand, *text};
    const AccessOutcome outcome =
        operations_.access(planned, request, std::span(arguments).first(access.text != nullptr ? 5 : 4));
    if (!access.assertion) return signal_ends(planned, outcome);
    return assertion(planned, *access.assertion, [&](std::optional<std::uint64_t> expected) {
      return contradiction(*access.assertion, expected, outcome);
    });
  }

  Flow execute(const PlannedStatement& planned, const program::PlaceCode& code) {
    const Value address = value(*code.address);
    if (!address) return stop(address.error());
    return signal_ends(planned, operations_.place_code(planned, Addr{*address}));
  }

  /// As the kernel does to a process that has no handler.
  Flow signal_ends(const PlannedStatement& planned, const AccessOutcome& outcome) {
    if (!outcome.signal) return Flow::go_on;
    return stop(Ending::signal, planned.statement->position, process_ == 0 ? "" : "in a child process", outcome.signal);
  }

  Flow unsupported(const PlannedStatement& planned, const std::string& what) {
    return stop(Ending::unsupported, planned.statement->position,
                context_.machine.kind + " does not do " + what + " yet");
  }

  /// `compare` says what contradicts the assertion, given the value that it expects.
  template <class Compare>
  Flow assertion(const PlannedStatement& planned, const program::ResultAssertion& asserted, Compare compare) {
    std::optional<std::uint64_t> expected;
    if (const auto* expectation = std::get_if<program::ExpectValue>(&asserted)) {
      const Value evaluated = value(*expectation->value);
      if (!evaluated) return stop(evaluated.error());
      expected = *evaluated;
    }
    const std::optional<std::string> found = compare(expected);
    context_.ledger.evaluated(planned.check, found ? CheckStatus::failed : CheckStatus::held, found.value_or(""));
    return Flow::go_on;
  }

  Flow execute(const PlannedStatement& planned, const program::Expect& expect) {
    if (!concerns(expect, context_.machine)) {
      context_.ledger.passed_over(planned.check);
      return Flow::go_on;
    }
    context_.ledger.at(planned.statement->position);
    const auto falsehood = find_falsehood(*expect.condition, slots_, probes_);
    if (!falsehood) {
      if (falsehood.error().kind == EvalFailure::misuse) return stop(falsehood.error());
      const CheckStatus status =
          falsehood.error().kind == EvalFailure::unknown ? CheckStatus::skipped : CheckStatus::failed;
      context_.ledger.evaluated(planned.check, status, falsehood.error().message);
    } else {
      context_.ledger.evaluated(planned.check, *falsehood ? CheckStatus::failed : CheckStatus::held,
                                falsehood->value_or(""));
    }
    return Flow::go_on;
  }

  Flow execute(const PlannedStatement& planned, const program::Repeat& repeat) {
    const Value count = value(*repeat.count);
    if (!count) return stop(count.error());
    for (std::uint64_t i = 0; i < *count; ++i) {
      if (iteration(planned) == Flow::stop) return Flow::stop;
    }
    return Flow::go_on;
  }

  Flow execute(const PlannedStatement& planned, const program::For& loop) {
    const Value first = value(*loop.first);
    if (!first) return stop(first.error());
    const Value limit = value(*loop.limit);
    if (!limit) return stop(limit.error());
    for (std::uint64_t i = *first; i < *limit; ++i) {
      slots_[loop.slot.index] = i;
      if (iteration(planned) == Flow::stop) return Flow::stop;
    }
    return Flow::go_on;
  }

  /// An empty body still takes time, so the clock is looked at here too.
  Flow iteration(const PlannedStatement& planned) {
    if (block(planned.body) == Flow::stop) return Flow::stop;
    return operations_.look_at_clock(planned.statement->position);
  }

  Flow execute(const PlannedStatement& planned, const program::Measure& measure) {
    const Value count = value_or(measure.count, 1);
    if (!count) return stop(count.error());
    const Sampling around = operations_.sampling();
    const bool alternate =
        K::kCounting == Counting::disturbs && around == Sampling::both && *count >= 2 && planned.spawns == Spawns::no;
    Flow flow = Flow::go_on;
    for (std::uint64_t i = 0; i < *count && flow == Flow::go_on; ++i) {
      if (alternate) operations_.sampling() = i % 2 == 0 ? Sampling::count_only : Sampling::time_only;
      flow = repetition(planned);
    }
    operations_.sampling() = around;
    return flow;
  }

  Flow repetition(const PlannedStatement& planned) {
    const bool around = operations_.sampling() == Sampling::time_only && planned.spawns == Spawns::no;
    MeasureFrame frame{operations_.frame(), planned.row,
                       around ? MeasureFrame::Counts::by_repetition : MeasureFrame::Counts::by_operation};
    context_.ledger.touch_ahead();
    if (around) kernel_.settle();
    operations_.frame() = &frame;
    if constexpr (WatchedKernel<K>) kernel_.repetition_begins(planned.row);
    Counters counted;
    if (around) counted = kernel_.counters();
    const Flow flow = iteration(planned);
    if (around) counted = kernel_.counters() - counted;
    operations_.frame() = frame.outer;

    RowRecord& record = context_.ledger.row(planned.row);
    operations_.add(record, [&] {
      record.counted += counted;
      ++record.counted_calls;
      ++record.calls;
    });
    if (around) operations_.add_to_frames(counted);
    // What children and threads take is not in the frame, so a block that starts some has no time of its own.
    const bool timed = frame.timed == MeasureFrame::Timed::all && planned.spawns == Spawns::no;
    const bool sampled = flow == Flow::go_on && timed && kernel_.metric() != Metric::none;
    if (sampled) operations_.add_amount(planned.row, frame.amount, frame.uncertainty);
    if constexpr (WatchedKernel<K>) {
      kernel_.repetition_ends(planned.row, kCountedFlag | (sampled ? kSampledFlag : 0));
    }
    return flow;
  }

  Flow execute(const PlannedStatement& planned, const program::Child& child) {
    const std::uint32_t process = context_.ledger.next_process();
    if (context_.listener != nullptr) {
      context_.listener->child_named(process, child.name);
      context_.listener->forked(process_, process);
    }
    const KernelFailure failure = kernel_.child(child.name, [&](K& kernel) {
      Executor(context_, kernel, slots_, process, operations_.frame(), operations_.sampling()).block(planned.body);
    });
    if (failure) return stop(Ending::failed, planned.statement->position, *failure);
    return context_.ledger.ended() ? Flow::stop : Flow::go_on;
  }

  Flow execute(const PlannedStatement& planned, const program::ExitChild& exit) {
    if (context_.listener != nullptr) context_.listener->child_ends(process_, exit.name);
    if (kernel_.exit_child(exit.name)) return Flow::go_on;
    return stop(Ending::misuse, planned.statement->position, "no child named \"" + exit.name + "\" is alive");
  }

  Flow execute(const PlannedStatement& planned, const program::Threads& threads) {
    const Value count = value(*threads.count);
    if (!count) return stop(count.error());
    // Copied before any thread starts, so that none has to allocate for them.
    constexpr std::uint64_t kMostThreads = 1024;
    if (*count > kMostThreads) {
      return stop(Ending::misuse, planned.statement->position,
                  value_text(*count) + " threads, expected at most " + value_text(kMostThreads));
    }
    std::vector<Slots> slots(*count, slots_);
    for (std::uint64_t i = 0; i < *count; ++i) slots[i][threads.slot.index] = i;
    const KernelFailure failure = kernel_.threads(*count, [&](K& kernel, std::uint64_t i) {
      Executor(context_, kernel, std::move(slots[i]), process_, operations_.frame(), operations_.sampling())
          .block(planned.body);
    });
    if (failure) return stop(Ending::failed, planned.statement->position, *failure);
    return context_.ledger.ended() ? Flow::stop : Flow::go_on;
  }

  Context& context_;
  K& kernel_;
  Slots slots_;
  KernelProbes<K> probes_;
  std::uint32_t process_;
  Operations<K> operations_;
};

}  // namespace faultline::run
