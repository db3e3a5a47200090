#include "run/step_range.h"

#include <variant>

#include "run/call_range.h"

namespace faultline::run {
namespace {

struct RangeOf {
  const Step& step;
  const StepOutcome& outcome;

  std::optional<Range> operator()(const program::SystemCall& call) const {
    CallRequest request{call.sys, {}, 0};
    for (const std::uint64_t argument : step.arguments) {
      if (request.count < request.arguments.size()) request.arguments[request.count++] = argument;
    }
    return range_after(request, {outcome.value, outcome.error, 0});
  }
  std::optional<Range> operator()(const program::Access& access) const {
    if (step.arguments.size() < 3 || step.arguments[2] == 0) return std::nullopt;
    const std::uint64_t length = step.arguments[1];
    const std::uint64_t stride = step.arguments[2];
    return range_of(
        {access.kind, Addr{step.arguments[0]}, length / stride + (length % stride != 0 ? 1 : 0), stride, 0, {}});
  }
  std::optional<Range> operator()(const program::PlaceCode&) const {
    return step.arguments.empty() ? std::nullopt
                                  : range_of({AccessKind::store, Addr{step.arguments[0]}, 1, kPageSize, 0, {}});
  }
  template <class Other>
  std::optional<Range> operator()(const Other&) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<Range> worked_on(const Step& step, const StepOutcome& outcome) {
  return std::visit(RangeOf{step, outcome}, step.statement->node);
}

}  // namespace faultline::run
