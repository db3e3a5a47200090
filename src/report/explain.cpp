#include "report/explain.h"

#include <fmt/format.h>

#include "base/errno.h"
#include "mm/address_space.h"
#include "report/event_text.h"
#include "report/format.h"
#include "report/grid.h"
#include "run/evaluate.h"
#include "run/step_range.h"

namespace faultline::report {
namespace {

constexpr std::size_t kWidestStatement = 200;

std::string arguments_text(std::span<const std::uint64_t> arguments) {
  std::string text;
  for (const std::uint64_t argument : arguments) text += (text.empty() ? "" : ", ") + run::value_text(argument);
  return text;
}

// The counters by the names that a program's count() takes.
std::string cost_text(const Counters& counted) {
  std::string text;
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (counted[counter] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counter_name(counter), thousands(counted[counter]));
  }
  return text.empty() ? "nothing" : text;
}

std::vector<mm::Vma> all_vmas(const mm::AddressSpace& space) {
  std::vector<mm::Vma> vmas;
  space.for_each_vma({Addr{0}, Addr{~std::uint64_t{0}}}, [&](const mm::Vma& vma) { vmas.push_back(vma); });
  return vmas;
}

}  // namespace

Explainer::Explainer(StepRange steps, DrawVmas draw, Sink sink, Colour colour)
    : steps_(steps), draw_(draw), sink_(std::move(sink)), colour_(colour) {}

void Explainer::line(std::string_view label, std::string_view text, Emphasis emphasis) {
  text_ += coloured(story_line(label, text, mm::Rule::none), emphasis, colour_) + "\n";
}

void Explainer::begin(const run::Step& step) {
  ++executed_;
  why_.begin(step);
  listening_ = steps_.contains(step.number);
  if (!listening_) return;
  ++printed_;
  last_vma_.clear();
  profile_ = nullptr;
  const std::string operation = printable(step.statement->text, kWidestStatement);
  std::string heading = fmt::format("{:>4}  {}", step.number, operation);
  heading += fmt::format("   (line {}", step.statement->position.line);
  if (step.process != 0) heading += fmt::format(", child {}", step.process);
  heading += ")";
  text_ = coloured(heading, Emphasis::heading, colour_) + "\n";
  if (!step.arguments.empty()) line("with", arguments_text(step.arguments));
}

void Explainer::on(const mm::Event& event) {
  why_.on(event);
  if (!listening_) return;
  // A copy flushes the page that it replaces: part of that page's story, which would not fold otherwise.
  const bool flushes_page =
      event.kind == mm::EventKind::flush && event.range.pages() == 1 && pages_.open_page() == event.range.start;
  if (belongs_to_page(event) || flushes_page) {
    pages_.add(event, event.kind == mm::EventKind::hardware ? why_.sentence(event) : "");
  } else if (event.kind == mm::EventKind::vma) {
    add_vma(event);
  } else {
    text_ += pages_.take_all();
    const Emphasis emphasis = event.kind == mm::EventKind::refused ? Emphasis::failure : Emphasis::none;
    text_ += coloured(call_event_text(event), emphasis, colour_) + "\n";
  }
}

// Each fault looks its VMA up; a reader wants to see it once. It stands above the page that asked for it.
void Explainer::add_vma(const mm::Event& event) {
  std::string vma = call_event_text(event);
  if (vma == last_vma_) return;
  text_ += pages_.take_closed();
  text_ += vma + "\n";
  last_vma_ = std::move(vma);
}

void Explainer::before(const mm::AddressSpace& space) {
  if (!listening_ || draw_ == DrawVmas::no || profile_ != nullptr) return;
  profile_ = &space.profile();
  vmas_.before = all_vmas(space);
  vmas_.names = &space.system().vma_names();
}

void Explainer::after(const mm::AddressSpace& space) {
  if (listening_ && draw_ == DrawVmas::yes) vmas_.after = all_vmas(space);
}

void Explainer::draw(const run::Step& step, const run::StepOutcome& outcome) {
  if (profile_ == nullptr) return;
  vmas_.worked_on = run::worked_on(step, outcome);
  text_ += draw_vmas(*profile_, vmas_);
}

void Explainer::end(const run::Step& step, const run::StepOutcome& outcome) {
  why_.end(step, outcome);
  if (!listening_) return;
  text_ += pages_.take_all();
  listening_ = false;
  draw(step, outcome);
  line("cost", cost_text(outcome.counted));
  if (outcome.signal) {
    line("result", to_string(*outcome.signal), Emphasis::failure);
  } else if (outcome.error) {
    line("result", fmt::format("-1 {}", errno_name(*outcome.error)), Emphasis::failure);
  } else {
    line("result", run::value_text(outcome.value));
  }
  text_ += '\n';
  sink_(text_);
}

}  // namespace faultline::report
