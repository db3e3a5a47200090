#include "report/policy_study.h"

#include <algorithm>

#include "base/errno.h"
#include "base/signal.h"
#include "mm/address_space.h"
#include "run/step_range.h"

namespace faultline::report {
namespace {

bool installs_guard(const run::Step& step) {
  constexpr std::uint64_t kInstall = 102;
  const program::SystemCall* call = call_of(*step.statement);
  return call != nullptr && call->sys == program::Sys::madvise && step.arguments.size() > 2 &&
         step.arguments[2] == kInstall;
}

/// Does a policy refuse by this rule, whatever else has failed before?
bool is_of_policy(mm::Rule rule) {
  switch (rule) {
    case mm::Rule::sealed_upfront:
    case mm::Rule::sealed_in_loop:
    case mm::Rule::sealed_discard:
    case mm::Rule::write_exec_denied:
    case mm::Rule::map_count_limit:
      return true;
    default:
      return false;
  }
}

std::string ending_of(const run::Step& step, const run::StepOutcome& outcome) {
  // What the kernel stores for a program, as a read: it stops where it may not store.
  const program::SystemCall* call = call_of(*step.statement);
  const bool is_read = call != nullptr && call->sys == program::Sys::read && step.arguments.size() > 2;
  if (is_read && !outcome.error && outcome.value < step.arguments[2]) return "EFAULT";
  if (outcome.signal) return std::string(signal_name(outcome.signal->number));
  if (outcome.error) return std::string(errno_name(*outcome.error));
  return {};
}

}  // namespace

PolicyStudy::PolicyStudy(const record::Import& recording, record::Symbols& symbols, const Endings& usual,
                         const std::map<std::uint32_t, Range>& refused)
    : recording_(recording), symbols_(symbols), usual_(usual), refused_(refused) {}

void PolicyStudy::begin(const run::Step& step) {
  step_ = &step;
  rule_ = mm::Rule::none;
}

void PolicyStudy::on(const mm::Event& event) {
  if (event.kind == mm::EventKind::refused) rule_ = event.rule;
}

void PolicyStudy::before(const mm::AddressSpace& space) {
  const record::Origin* origin = step_ == nullptr ? nullptr : origin_of(recording_, *step_->statement);
  // A guard that the program installs itself drops what it means to drop.
  if (origin == nullptr || origin->call == record::Call::madvise || !installs_guard(*step_)) return;
  const auto range = named_range(*step_);
  if (!range || space.state(*range).present == 0) return;
  std::set<Addr>& pages = processes_[step_->process].under_guard;
  space.for_each_vma(*range, [&](const mm::Vma& vma) {
    const Range part = vma.range().intersect(*range);
    for (Addr page = part.start; page < part.end; page = page + kPageSize) {
      const mm::PageState state = space.page(page);
      // A page of a file comes back as it was.
      if (!state.present || state.zero_page || state.cached) continue;
      ++figures_.dropped;
      pages.insert(page);
    }
  });
}

void PolicyStudy::after(const mm::AddressSpace& space) {
  if (step_ == nullptr || step_->process != 0 || origin_of(recording_, *step_->statement) == nullptr) return;
  figures_.most_vmas = std::max(figures_.most_vmas, space.vma_count());
}

void PolicyStudy::judge(const run::Step& step, const record::Origin& origin, const std::string& ending) {
  const std::uint32_t line = step.statement->position.line;
  const auto forbidden = refused_.find(line);
  const std::string found = forbidden == refused_.end() ? ending : "EACCES";
  if (!found.empty()) figures_.endings[line] = found;
  const auto usual = usual_.find(line);
  if (found == (usual == usual_.end() ? "" : usual->second)) return;
  const bool touch = is_touch(*step.statement, origin);
  const std::optional<Range> range = forbidden != refused_.end() ? forbidden->second
                                     : touch                     ? run::worked_on(step, {})
                                                                 : named_range(step);
  PageHistory& history = processes_[step.process].refused;
  if (range && forbidden == refused_.end() && !is_of_policy(rule_)) {
    if (const auto cause = history.last_change(range->start)) {
      ++figures_.refusals[refusal_of_.at(cause->step)].later;
      return;
    }
  }
  const CallSite call = touch ? CallSite{std::string(touch_name(origin.touch)), symbols_.label(origin.site)}
                              : call_site(origin, symbols_);
  const Refusal refusal{call.call, call.site, found.empty() ? "succeeds" : found};
  ++figures_.refusals[refusal].times;
  if (touch || !range) return;
  refusal_of_.emplace(step.number, refusal);
  history.record(*range, {step.number, step.statement, mm::Rule::none});
}

void PolicyStudy::touch(const run::Step& step, const record::Origin& origin) {
  std::set<Addr>& pages = processes_[step.process].under_guard;
  if (pages.empty()) return;
  const auto range = is_touch(*step.statement, origin) ? run::worked_on(step, {}) : named_range(step);
  if (!range) return;
  const auto first = pages.lower_bound(range->start);
  const auto last = pages.lower_bound(range->end);
  const bool reads = is_touch(*step.statement, origin) && origin.touch != record::Touch::store &&
                     origin.touch != record::Touch::kernel_store;
  if (reads) figures_.missed += static_cast<std::uint64_t>(std::distance(first, last));
  const bool unmaps = origin.is_call && (origin.call == record::Call::munmap || origin.call == record::Call::mmap);
  if (is_touch(*step.statement, origin) || unmaps) pages.erase(first, last);
}

void PolicyStudy::end(const run::Step& step, const run::StepOutcome& outcome) {
  step_ = nullptr;
  const record::Origin* origin = origin_of(recording_, *step.statement);
  if (origin == nullptr) return;
  figures_.faults += outcome.counted[Counter::minor_faults];
  const std::string ending = ending_of(step, outcome);
  judge(step, *origin, ending);
  if (ending.empty()) touch(step, *origin);
}

}  // namespace faultline::report
