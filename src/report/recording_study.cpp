#include "report/recording_study.h"

#include <algorithm>
#include <bit>

#include "base/page.h"
#include "mm/address_space.h"
#include "program/syscall.h"
#include "record/system_call.h"

namespace faultline::report {
RecordingStudy::RecordingStudy(const record::Import& recording, record::Symbols& symbols)
    : recording_(recording), symbols_(symbols) {}

void RecordingStudy::begin(const run::Step& step) {
  step_ = &step;
  last_step_ = step.number;
  origin_ = origin_of(recording_, *step.statement);
  handled_.clear();
  copied_.clear();
  present_ = 0;
  change_.reset();
}

void RecordingStudy::before(const mm::AddressSpace& space) {
  figures_.limit = space.tunables().max_map_count;
  if (step_ == nullptr || origin_ == nullptr || !origin_->is_call) return;
  const auto range = named_range(*step_);
  if (!range) return;
  present_ = space.state(*range).present;
  const program::SystemCall* call = call_of(*step_->statement);
  if (call->sys != program::Sys::mprotect && call->sys != program::Sys::pkey_mprotect) return;
  ProtectionChange change;
  change.pages = std::bit_floor(range->pages());
  change.present = std::bit_floor(present_);
  change.after = static_cast<Prot>(step_->arguments[2]);
  std::uint64_t covered = 0;
  bool uniform = true;
  space.for_each_vma(*range, [&](const mm::Vma& vma) {
    const Prot here = mm::prot_of(vma.flags);
    uniform = uniform && (!change.before || *change.before == here);
    change.before = here;
    covered += std::min(vma.end, range->end).value - std::max(vma.start, range->start).value;
  });
  if (!uniform || covered != range->bytes()) change.before.reset();
  change.site = symbols_.label(origin_->site);
  change_ = std::move(change);
}

void RecordingStudy::after(const mm::AddressSpace& space) {
  // What the import maps for itself, to fill files, is no mapping of the program's.
  if (step_ == nullptr || step_->process != 0 || origin_ == nullptr) return;
  const std::uint64_t vmas = space.vma_count();
  if (figures_.vmas.empty() || figures_.vmas.back().vmas != vmas) {
    figures_.vmas.push_back({step_->number, figures_.memory_calls + (origin_->is_call ? 1 : 0), vmas});
  }
}

void RecordingStudy::on(const mm::Event& event) {
  if (event.kind != mm::EventKind::handled || origin_ == nullptr) return;
  const bool of_shared = event.rule == mm::Rule::copy_shared || event.rule == mm::Rule::copy_not_exclusive ||
                         event.rule == mm::Rule::reuse_single_reference || event.rule == mm::Rule::reuse_all_mine;
  (of_shared ? copied_ : handled_).push_back(event.range.start);
}

void RecordingStudy::forked(std::uint32_t parent, std::uint32_t child) {
  Process& process = processes_[parent];
  process.fork_step = last_step_;
  ++figures_.calls[{"fork", ""}].calls;
  processes_[child] = process;
}

void RecordingStudy::end_call(const run::Step& step, const run::StepOutcome& outcome, const record::Origin& origin) {
  if (origin.is_call) ++figures_.memory_calls;
  CallFigures& figures = figures_.calls[call_site(origin, symbols_)];
  ++figures.calls;
  if (outcome.error) ++figures.failures;
  figures.present += present_;
  figures.counted += outcome.counted;
  const auto range = named_range(step);
  if (range) figures.bytes += range->bytes();
  if (change_ && !outcome.error) {
    ProtectionFigures& changed = figures_.protections[*change_];
    ++changed.times;
    changed.pages += range->pages();
    changed.present += present_;
    changed.counted += outcome.counted;
  }
  const PageChange change{step.number, step.statement, mm::Rule::none};
  PageHistory& history = processes_[step.process].history;
  if (const auto moved = moved_to(step, outcome)) history.record(*moved, change);
  if (range) history.record(*range, change);
}

void RecordingStudy::add_place(const run::StepOutcome& outcome, const record::Origin& origin) {
  const std::uint64_t faults = outcome.counted[Counter::minor_faults];
  const std::uint64_t ptes = outcome.counted[Counter::ptes_changed];
  const std::uint64_t flushes = outcome.counted[Counter::flushes_ranged] + outcome.counted[Counter::flushes_full];
  if (!origin.is_call && faults + ptes + flushes == 0) return;
  const std::string_view operation =
      origin.is_call ? program::sys_name(record::sys_of(origin.call)) : touch_name(origin.touch);
  PlaceFigures& place = figures_.places[{origin.site, operation}];
  ++place.executions;
  place.faults += faults;
  place.ptes += ptes;
  place.flushes += flushes;
}

void RecordingStudy::blame(const Process& process, Addr page, bool shared) {
  const auto change = process.history.last_change(page);
  if (shared && process.fork_step > 0 && (!change || change->step <= process.fork_step)) {
    ++figures_.calls[{"fork", ""}].later_faults;
    return;
  }
  if (!change) return;
  const record::Origin* cause = origin_of(recording_, *change->statement);
  if (cause != nullptr) ++figures_.calls[call_site(*cause, symbols_)].later_faults;
}

void RecordingStudy::end(const run::Step& step, const run::StepOutcome& outcome) {
  step_ = nullptr;
  if (origin_ == nullptr) return;
  const record::Origin& origin = *origin_;
  origin_ = nullptr;
  figures_.counted += outcome.counted;
  if (step.process == 0) figures_.last_step = step.number;
  const Process& process = processes_[step.process];
  for (const Addr page : handled_) blame(process, page, false);
  for (const Addr page : copied_) blame(process, page, true);
  const bool touch = is_touch(*step.statement, origin);
  if (outcome.counted[Counter::minor_faults] + outcome.counted[Counter::exceptions] > 0) {
    const std::string access(touch ? touch_name(origin.touch) : call_site(origin, symbols_).call);
    figures_.faults[{access, symbols_.label(origin.site)}] += outcome.counted;
  }
  if (touch || origin.is_call) add_place(outcome, origin);
  if (!touch) end_call(step, outcome, origin);
}

}  // namespace faultline::report
