#pragma once

#include <string>

#include "base/vm_flags.h"
#include "run/context.h"
#include "run/evaluate.h"
#include "run/kernel.h"

namespace faultline::run {

/// Answers an expression's questions from a kernel and from what has been counted so far.
template <Kernel K>
class KernelProbes final : public ProbeSource {
 public:
  KernelProbes(Context& context, K& kernel) : context_(context), kernel_(kernel) {}

  Value probe(program::Position position, const program::Probe& probe,
              std::span<const std::uint64_t> arguments) override {
    using program::ProbeKind;
    const auto argument = [&](std::size_t i) { return i < arguments.size() ? arguments[i] : 0; };
    const Range range = clamped(argument(0), argument(1));
    switch (probe.kind) {
      case ProbeKind::vmas:
        return answer(position, kernel_.vmas(arguments.empty() ? std::nullopt : std::optional(range)));
      case ProbeKind::resident:
        return answer(position, kernel_.resident(range));
      case ProbeKind::huge:
        return answer(position, kernel_.huge(range));
      case ProbeKind::perm:
        return answer(position, kernel_.perm(Addr{argument(0)}));
      case ProbeKind::value:
        return answer(position, kernel_.value(Addr{argument(0)}));
      case ProbeKind::state:
        return answer(position, kernel_.state(range));
      case ProbeKind::soft_dirty:
        return answer(position, kernel_.soft_dirty(range));
      case ProbeKind::uffd_wp:
        return answer(position, kernel_.uffd_wp(range));
      case ProbeKind::pkey:
        return answer(position, kernel_.pkey(Addr{argument(0)}));
      case ProbeKind::max_map_count:
        return answer(position, kernel_.max_map_count());
      case ProbeKind::named: {
        const auto* text =
            probe.arguments.size() < 2 ? nullptr : std::get_if<program::StringLiteral>(&probe.arguments[1]->node);
        if (text == nullptr) {
          return std::unexpected(EvalError{EvalFailure::misuse, position, "named wants the name in quotes"});
        }
        return answer(position, kernel_.named(Addr{argument(0)}, text->value));
      }
      case ProbeKind::vmflags:
        return has_flags(position, probe, Addr{argument(0)});
      case ProbeKind::faults:
        return per_repetition(position, Counter::exceptions, probe.measure);
      case ProbeKind::minflt:
        return per_repetition(position, Counter::minor_faults, probe.measure);
      case ProbeKind::count:
        return counted(position, probe);
    }
    return 0;
  }

 private:
  static Range clamped(std::uint64_t start, std::uint64_t bytes) {
    const std::uint64_t last = ~std::uint64_t{0} & ~(kPageSize - 1);
    const Addr from = Addr{start}.page_floor();
    return {from, Addr{bytes >= last - start ? last : page_ceil(start + bytes)}};
  }

  Value has_flags(program::Position position, const program::Probe& probe, Addr addr) {
    const auto* text =
        probe.arguments.size() < 2 ? nullptr : std::get_if<program::StringLiteral>(&probe.arguments[1]->node);
    if (text == nullptr) {
      return std::unexpected(EvalError{EvalFailure::misuse, position, "vmflags wants letters in quotes: \"rd wr\""});
    }
    const Value found = answer(position, kernel_.vm_flags(addr));
    if (!found) return found;
    return *found == vm_flags_in(text->value) ? 1 : 0;
  }

  static Value answer(program::Position position, const ProbeAnswer& found) {
    if (found) return *found;
    return std::unexpected(EvalError{EvalFailure::unknown, position, found.error()});
  }

  Value counted(program::Position position, const program::Probe& probe) {
    const std::optional<Counter> counter = counter_named(probe.counter);
    if (!counter) {
      return std::unexpected(EvalError{EvalFailure::misuse, position, "no counter is named " + probe.counter});
    }
    return per_repetition(position, *counter, probe.measure);
  }

  Value per_repetition(program::Position position, Counter counter, const std::string& measure) {
    if (!kernel_.known().test(std::to_underlying(counter))) {
      return std::unexpected(EvalError{EvalFailure::unknown, position,
                                       context_.machine.kind + " does not see " + std::string(counter_name(counter))});
    }
    const std::optional<std::uint32_t> row = context_.plan.measure_row(measure);
    if (!row) {
      return std::unexpected(EvalError{EvalFailure::misuse, position, "no measure block is named \"" + measure + "\""});
    }
    const RowRecord& record = context_.ledger.row(*row);
    const std::uint64_t total = record.counted[counter];
    if (record.counted_calls == 0) {
      return std::unexpected(
          EvalError{EvalFailure::unequal, position, "the measure block \"" + measure + "\" has not been executed"});
    }
    if (total % record.counted_calls != 0) {
      return std::unexpected(
          EvalError{EvalFailure::unequal, position,
                    std::string(counter_name(counter)) + " of \"" + measure + "\": " + std::to_string(total) + " in " +
                        std::to_string(record.counted_calls) + " repetitions, not the same in each"});
    }
    return total / record.counted_calls;
  }

  Context& context_;
  K& kernel_;
};

}  // namespace faultline::run
