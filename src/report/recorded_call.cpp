#include "report/recorded_call.h"

#include "program/syscall.h"
#include "record/system_call.h"

namespace faultline::report {

using program::Sys;

const program::SystemCall* call_of(const program::Statement& statement) {
  return std::get_if<program::SystemCall>(&statement.node);
}

CallSite call_site(const record::Origin& origin, record::Symbols& symbols) {
  if (!origin.is_call) return {"(mapped at the start)", ""};
  return {std::string(program::sys_name(record::sys_of(origin.call))), symbols.label(origin.site)};
}

std::string_view touch_name(record::Touch touch) {
  switch (touch) {
    case record::Touch::load:
      return "load";
    case record::Touch::store:
      return "store";
    case record::Touch::atomic:
      return "atomic";
    case record::Touch::fetch:
      return "fetch";
    case record::Touch::kernel_store:
      return "store by the kernel";
  }
  return "";
}

bool is_touch(const program::Statement& statement, const record::Origin& origin) {
  if (origin.is_call) return false;
  const program::SystemCall* call = call_of(statement);
  return std::holds_alternative<program::Access>(statement.node) || (call != nullptr && call->sys == Sys::read);
}

std::optional<Range> named_range(const run::Step& step) {
  const program::SystemCall* call = call_of(*step.statement);
  if (call == nullptr || step.arguments.size() < 2 || call->sys == Sys::prctl) return std::nullopt;
  const Addr start = Addr{step.arguments[0]}.page_floor();
  const std::uint64_t bytes = step.arguments[1];
  if (bytes == 0 || bytes > ~step.arguments[0] - 2 * kPageSize) return std::nullopt;
  return Range{start, Addr{page_ceil(step.arguments[0] + bytes)}};
}

std::optional<Range> moved_to(const run::Step& step, const run::StepOutcome& outcome) {
  const program::SystemCall* call = call_of(*step.statement);
  if (call == nullptr || call->sys != Sys::mremap || outcome.error || step.arguments.size() < 3) return std::nullopt;
  return Range::of(Addr{outcome.value}, page_ceil(step.arguments[2]));
}

}  // namespace faultline::report
