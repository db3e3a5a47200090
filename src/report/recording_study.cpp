#include "report/recording_study.h"

#include <algorithm>
#include <bit>

#include "base/page.h"
#include "mm/address_space.h"
#include "program/syscall.h"

namespace faultline::report {
namespace {

constexpr std::string_view kAtStart = "(mapped at the start)";

const program::SystemCall* call_of(const program::Statement& statement) {
  return std::get_if<program::SystemCall>(&statement.node);
}

std::string_view access_name(const record::Origin& origin) {
  switch (origin.touch) {
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

/// The range that a call names; of a call that chooses its place, nothing.
std::optional<Range> named_range(const run::Step& step) {
  const program::SystemCall* call = call_of(*step.statement);
  if (call == nullptr || step.arguments.size() < 2) return std::nullopt;
  if (call->sys == program::Sys::prctl) return std::nullopt;
  const Addr start = Addr{step.arguments[0]}.page_floor();
  const std::uint64_t bytes = step.arguments[1];
  if (bytes == 0 || bytes > ~step.arguments[0] - 2 * kPageSize) return std::nullopt;
  return Range{start, Addr{page_ceil(step.arguments[0] + bytes)}};
}

}  // namespace

RecordingStudy::RecordingStudy(const record::Import& recording, record::Symbols& symbols)
    : recording_(recording), symbols_(symbols) {}

const record::Origin* RecordingStudy::origin_of(const program::Statement& statement) const {
  const std::uint32_t line = statement.position.line;
  return line == 0 || line > recording_.origins.size() ? nullptr : &recording_.origins[line - 1];
}

CallSite RecordingStudy::call_site(const program::Statement& statement, const record::Origin& origin) {
  // A heap's growth is an mmap in the program, but was a brk.
  if (!origin.is_call) return {std::string(kAtStart), ""};
  if (origin.call == record::Call::brk) return {"brk", symbols_.label(origin.site)};
  const program::SystemCall* call = call_of(statement);
  return {call == nullptr ? "" : std::string(program::sys_name(call->sys)), symbols_.label(origin.site)};
}

void RecordingStudy::begin(const run::Step& step) {
  step_ = &step;
  last_step_ = step.number;
  origin_ = origin_of(*step.statement);
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
  if (step_ == nullptr || step_->process != 0) return;
  const std::uint64_t vmas = space.vma_count();
  if (figures_.vmas.empty() || figures_.vmas.back().vmas != vmas) {
    figures_.vmas.push_back({figures_.memory_calls, vmas});
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
  ++figures_.memory_calls;
  CallFigures& figures = figures_.calls[call_site(*step.statement, origin)];
  ++figures.calls;
  if (outcome.error) ++figures.failures;
  figures.present += present_;
  figures.counted += outcome.counted;
  const auto range = named_range(step);
  if (range) figures.bytes += range->bytes();
  if (change_ && !outcome.error) ++figures_.protections[*change_];
  const PageChange change{step.number, step.statement, mm::Rule::none};
  PageHistory& history = processes_[step.process].history;
  const program::SystemCall* call = call_of(*step.statement);
  if (call != nullptr && call->sys == program::Sys::mremap && !outcome.error && step.arguments.size() >= 3) {
    history.record(Range::of(Addr{outcome.value}, page_ceil(step.arguments[2])), change);
  }
  if (range) history.record(*range, change);
}

void RecordingStudy::end(const run::Step& step, const run::StepOutcome& outcome) {
  step_ = nullptr;
  if (origin_ == nullptr) return;
  const record::Origin& origin = *origin_;
  origin_ = nullptr;
  figures_.counted += outcome.counted;
  const bool is_access = !origin.is_call && origin.site != record::kNoSite;
  const bool by_kernel =
      !origin.is_call && call_of(*step.statement) != nullptr && call_of(*step.statement)->sys == program::Sys::read;
  const Process& process = processes_[step.process];
  const auto blame = [&](Addr page, bool shared) {
    const auto change = process.history.last_change(page);
    if (shared && process.fork_step > 0 && (!change || change->step <= process.fork_step)) {
      ++figures_.calls[{"fork", ""}].later_faults;
      return;
    }
    if (!change) return;
    const record::Origin* cause = origin_of(*change->statement);
    if (cause != nullptr) ++figures_.calls[call_site(*change->statement, *cause)].later_faults;
  };
  for (const Addr page : handled_) blame(page, false);
  for (const Addr page : copied_) blame(page, true);
  if (outcome.counted[Counter::minor_faults] + outcome.counted[Counter::exceptions] > 0) {
    const std::string access(is_access || by_kernel ? access_name(origin) : call_site(*step.statement, origin).call);
    figures_.faults[{access, symbols_.label(origin.site)}] += outcome.counted;
  }
  if (!is_access && !by_kernel) end_call(step, outcome, origin);
}

}  // namespace faultline::report
