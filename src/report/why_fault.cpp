#include "report/why_fault.h"

#include <fmt/format.h>

#include "base/flags.h"
#include "report/format.h"
#include "run/step_range.h"

namespace faultline::report {
namespace {

using mm::EventKind;
using program::Sys;

constexpr std::size_t kWidestCause = 48;

/// Of guard markers ptes_changed does not tell.
bool is_guard_advice(const program::SystemCall& call, const run::Step& step) {
  if (call.sys != Sys::madvise || step.arguments.size() < 3) return false;
  const auto advice = static_cast<Advice>(step.arguments[2]);
  return advice == Advice::guard_install || advice == Advice::guard_remove;
}

/// The range whose entries a call has made what they are now; nothing for one that changed none.
std::optional<Range> changed_range(const run::Step& step, const run::StepOutcome& outcome) {
  const auto* call = std::get_if<program::SystemCall>(&step.statement->node);
  if (call == nullptr) return std::nullopt;
  const bool changes =
      call->sys == Sys::mmap || call->sys == Sys::munmap || call->sys == Sys::mremap || is_guard_advice(*call, step);
  if (outcome.counted[Counter::ptes_changed] == 0 && (!changes || outcome.error)) return std::nullopt;
  return run::worked_on(step, outcome);
}

std::string of_step(const PageChange& change) {
  return fmt::format("step {} (line {}), {}", change.step, change.statement->position.line,
                     printable(change.statement->text, kWidestCause));
}

bool is_mmap(const PageChange& change) {
  const auto* call = std::get_if<program::SystemCall>(&change.statement->node);
  return call != nullptr && call->sys == Sys::mmap;
}

/// clear_refs(4) write-protects every page of the process, and names no range.
bool clears_refs(const run::Step& step) {
  const auto* call = std::get_if<program::SystemCall>(&step.statement->node);
  return call != nullptr && call->sys == Sys::clear_refs;
}

bool is_call(const PageChange& change) { return std::holds_alternative<program::SystemCall>(change.statement->node); }

}  // namespace

void WhyFault::begin(const run::Step& step) {
  process_ = step.process;
  now_ = {step.number, step.statement, mm::Rule::none};
}

void WhyFault::end(const run::Step& step, const run::StepOutcome& outcome) {
  if (clears_refs(step)) current().cleared = now_;
  if (const auto range = changed_range(step, outcome)) current().pages.record_unless_changed(*range, now_);
}

void WhyFault::forked(std::uint32_t parent, std::uint32_t child) {
  Process& forking = processes_[parent];
  forking.forked_before_step = now_.step + 1;
  processes_[child] = forking;
}

void WhyFault::on(const mm::Event& event) {
  if (event.kind == EventKind::pte) entry_ = event.entry;
  if (event.kind != EventKind::handled && event.kind != EventKind::upgrade) return;
  PageChange change = now_;
  if (event.kind == EventKind::upgrade) change.upgrade = event.rule;
  current().pages.record({event.range.start.page_floor(), Addr{page_ceil(event.range.end.value)}}, change);
}

std::string WhyFault::since(Addr page) const {
  const auto process = processes_.find(process_);
  if (process == processes_.end()) return {};
  const auto change = process->second.pages.last_change(page);
  if (!change) return {};
  if (change->step == now_.step) return ", as the fault before left it";
  std::string text = fmt::format("; last changed by {}", of_step(*change));
  if (change->upgrade != mm::Rule::none) text += fmt::format(": {}", mm::rule_text(change->upgrade));
  return text;
}

std::string WhyFault::sentence(const mm::Event& hardware) const {
  const Addr page = hardware.range.start.page_floor();
  const auto process = processes_.find(process_);
  const auto change = process == processes_.end() ? std::nullopt : process->second.pages.last_change(page);
  if (entry_.uffd_wp && hardware.write) return "a userfaultfd protects the page from writing" + since(page);
  if (entry_.guard) return "a guard marker stands in the entry" + since(page);
  if (!entry_.present) {
    if (!change) return "the page was never touched";
    if (is_mmap(*change)) return "the page was not touched since it was mapped by " + of_step(*change);
    if (process_ != 0 && change->step < process->second.forked_before_step) {
      return fmt::format("the fork before step {} copied no entry here", process->second.forked_before_step);
    }
    // An access fills an entry, so something that names no range, such as a shorter file, has emptied it since.
    if (!is_call(*change)) return "the entry was emptied after " + of_step(*change);
    return "the entry is empty" + since(page);
  }
  if (!entry_.readable && !entry_.writable && !entry_.executable) {
    return "the entry permits nothing, as PROT_NONE leaves it" + since(page);
  }
  if (!hardware.write || entry_.writable) return {};
  if (entry_.zero_page) return "the zero page is everybody's and never writable" + since(page);
  if (!entry_.exclusive && process != processes_.end() && process->second.forked_before_step != 0) {
    return fmt::format("the entry is read-only for copy-on-write since the fork before step {}",
                       process->second.forked_before_step);
  }
  if (process != processes_.end() && process->second.cleared &&
      (!change || change->step < process->second.cleared->step)) {
    return "the entry is read-only since " + of_step(*process->second.cleared);
  }
  return "the entry is read-only" + since(page);
}

}  // namespace faultline::report
