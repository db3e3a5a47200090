#include "export/trace.h"

#include <algorithm>
#include <variant>

#include "run/step_range.h"

namespace faultline::exports {
namespace {

/// What depends on other memory than the operation's own.
constexpr Counter kShared[] = {
    Counter::vma_visits,      Counter::seal_checks,      Counter::ptes_scanned,     Counter::tables_made,
    Counter::tables_freed,    Counter::mmap_lock_read,   Counter::mmap_lock_write,  Counter::vma_lock,
    Counter::tree_stores,     Counter::tree_searched,    Counter::tree_nodes,       Counter::tree_entries,
    Counter::tree_splits,     Counter::tree_joins,       Counter::tree_spans,       Counter::tree_levels,
    Counter::tree_gaps,       Counter::tree_rotations,   Counter::tree_walked,      Counter::cache_slots,
    Counter::anon_links_made, Counter::anon_links_moved, Counter::anon_links_freed, Counter::anon_link_levels,
    Counter::pages_activated};

}  // namespace

Behaviour behaviour_of(const run::Step& step, const run::StepOutcome& outcome, const mm::AddressSpace* space) {
  Behaviour behaviour{outcome.value, outcome.error, outcome.signal, outcome.counted, {}};
  for (const Counter counter : kShared) behaviour.counted[counter] = 0;
  const auto* call = std::get_if<program::SystemCall>(&step.statement->node);
  const bool makes_file =
      call != nullptr && (call->sys == program::Sys::memfd_create || call->sys == program::Sys::open);
  if (makes_file && !outcome.error) behaviour.value = 0;
  if (const auto range = run::worked_on(step, outcome); range && space != nullptr) {
    std::uint64_t vmas = 0;
    space->for_each_vma(*range, [&](const mm::Vma&) { ++vmas; });
    behaviour.vmas = vmas;
  }
  return behaviour;
}

void Tracer::begin(const run::Step&) {
  faulted_.clear();
  space_ = nullptr;
}

void Tracer::on(const mm::Event& event) {
  if (event.kind == mm::EventKind::handled) faulted_.push_back(event.range.start);
}

bool Tracer::of_site(const run::Step& step, std::optional<Range> range) {
  const bool is_call = std::holds_alternative<program::SystemCall>(step.statement->node);
  const bool here = site_of_(*step.statement).find(choice_.site) != std::string::npos;
  report::PageHistory& history = histories_[step.process];
  bool later = false;
  for (const Addr page : faulted_) {
    const auto change = history.last_change(page);
    later = later || (change && change->statement != nullptr);
  }
  // Of a change by another place no statement is kept: nothing later is asked of it.
  if (is_call && range) history.record(*range, {step.number, here ? step.statement : nullptr, mm::Rule::none});
  return here || later;
}

bool Tracer::is_chosen(const run::Step& step, const run::StepOutcome& outcome) {
  const auto range = run::worked_on(step, outcome);
  bool chosen = true;
  if (!choice_.site.empty()) chosen = of_site(step, range);
  if (choice_.steps) chosen = chosen && choice_.steps->first <= step.number && step.number <= choice_.steps->second;
  if (choice_.range) chosen = chosen && range && range->overlaps(*choice_.range);
  if (choice_.line) chosen = chosen && step.statement->position.line == *choice_.line;
  return chosen;
}

void Tracer::end(const run::Step& step, const run::StepOutcome& outcome) {
  ++trace_.steps;
  Event event;
  event.process = step.process;
  event.statement = step.statement;
  event.arguments_count = static_cast<std::uint8_t>(std::min(step.arguments.size(), event.arguments.size()));
  std::ranges::copy(step.arguments.first(event.arguments_count), event.arguments.begin());
  event.value = outcome.value;
  event.error = outcome.error;
  event.signal = outcome.signal;
  event.chosen = is_chosen(step, outcome);
  if (event.chosen && trace_.chosen.size() >= choice_.most) {
    event.chosen = false;
    ++trace_.left_out;
  }
  if (event.chosen) trace_.chosen.push_back(behaviour_of(step, outcome, space_));
  trace_.events.push_back(std::move(event));
}

void Tracer::child_named(std::uint32_t, std::string_view name) { next_name_ = name; }

void Tracer::forked(std::uint32_t parent, std::uint32_t child) {
  Event event;
  event.kind = EventKind::fork;
  event.process = parent;
  event.child = child;
  event.name = next_name_;
  trace_.events.push_back(std::move(event));
  if (!choice_.site.empty()) histories_[child] = histories_[parent];
}

void Tracer::child_ends(std::uint32_t parent, std::string_view name) {
  Event event;
  event.kind = EventKind::exit;
  event.process = parent;
  event.name = name;
  trace_.events.push_back(std::move(event));
}

}  // namespace faultline::exports
