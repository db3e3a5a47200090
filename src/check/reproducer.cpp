#include "check/reproducer.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <vector>

#include "base/errno.h"
#include "base/signal.h"
#include "base/vm_flags.h"
#include "machine/model_kernel.h"
#include "program/constants.h"
#include "run/play.h"

namespace faultline::check {
namespace {

using machine::ModelKernel;
using run::StepEnding;
using run::StepKind;

/// What the model gave for a step, and what a program has to expect after it.
struct Told {
  run::StepRecord record;
  std::vector<std::string> expectations;
};

std::string watched_text(Range watched) {
  return fmt::format("{:#x}, {} * PAGE", watched.start.value, watched.pages());
}

/// The flags of every mapping there is.
void expect_flags(const ModelKernel& kernel, Range watched, std::vector<std::string>& lines) {
  for (Addr page = watched.start; page < watched.end; page = page + kPageSize) {
    const Addr below{page.value - kPageSize};
    const bool begins = page == watched.start || *kernel.perm(below) == program::kUnmapped ||
                        *kernel.vmas(Range::of(below, 2 * kPageSize)) > 1;
    if (*kernel.perm(page) == program::kUnmapped || !begins) continue;
    const std::uint64_t flags = *kernel.vm_flags(page);
    lines.push_back(fmt::format("vmflags({:#x}, \"{}\") == 1", page.value, vm_flags_text(flags)));
  }
}

std::vector<std::string> expectations(const ModelKernel& kernel, Range watched, bool flags) {
  const std::string text = watched_text(watched);
  std::vector<std::string> lines{fmt::format("vmas({}) == {}", text, *kernel.vmas(watched)),
                                 fmt::format("resident({}) == {}", text, *kernel.resident(watched))};
  // Page by page where there are few.
  if (watched.pages() <= kArenaPages) {
    for (Addr page = watched.start; page < watched.end; page = page + kPageSize) {
      const std::uint64_t prot = *kernel.perm(page);
      if (prot == program::kUnmapped) continue;
      lines.push_back(fmt::format("perm({0:#x}) == {1} && resident({0:#x}, PAGE) == {2} && value({0:#x}) == {3}",
                                  page.value, prot, *kernel.resident(Range::of(page, kPageSize)), *kernel.value(page)));
    }
  }
  if (flags) expect_flags(kernel, watched, lines);
  lines.push_back(fmt::format("state({}) == {:#x}", text, *kernel.state(watched)));
  return lines;
}

std::vector<Told> ask_model(const Drawn& drawn, const mm::Profile& profile) {
  const run::Case played = case_of(drawn);
  std::vector<Told> told(played.steps.size());
  mm::System system(profile);
  ModelKernel kernel(std::make_unique<mm::AddressSpace>(system), machine::CheckInvariants::never, nullptr);
  const auto sink = [&](ModelKernel& process, std::size_t index, const run::StepRecord& record) {
    told[index] = {record, expectations(process, played.watched, record.flags != 0)};
  };
  run::CasePlayer<ModelKernel, decltype(sink)>(played, sink).play(kernel);
  return told;
}

std::string assertion_text(const run::StepRecord& record) {
  switch (record.outcome) {
    case StepEnding::error:
      return fmt::format(" = -1 {}", errno_name(Errno{static_cast<int>(record.value)}));
    case StepEnding::signal: {
      const int number = run::signal_number_of(record.value);
      return fmt::format(" = {} {}", signal_name(number), signal_code_name(number, run::signal_code_of(record.value)));
    }
    case StepEnding::done:
      return fmt::format(" = {:#x}", record.value);
    case StepEnding::not_reached:
    case StepEnding::unsupported:
      return "";
  }
  return "";
}

class Writer {
 public:
  Writer(const Drawn& drawn, const std::vector<Told>& told) : drawn_(drawn), told_(told) {}

  std::string write() {
    block(0, drawn_.operations.size(), 0);
    return std::move(text_);
  }

 private:
  void block(std::size_t first, std::size_t end, unsigned depth) {
    std::set<std::uint8_t> living;
    for (std::size_t i = first; i < end; i += 1 + drawn_.operations[i].step.body) {
      const Operation& operation = drawn_.operations[i];
      const run::CaseStep& step = operation.step;
      if (step.kind == StepKind::fork) {
        line(depth, text_of(operation) + " {");
        block(i + 1, i + 1 + step.body, depth + 1);
        line(depth, "}");
        if (step.child != 0) living.insert(step.child);
      } else if (step.kind == StepKind::exit) {
        if (living.erase(step.child) > 0) line(depth, text_of(operation));
      } else {
        perform(operation, told_[i].record, depth);
      }
      for (const std::string& expectation : told_[i].expectations) line(depth, "expect " + expectation);
    }
    for (const std::uint8_t child : living) line(depth, fmt::format("exit(\"c{}\")", child));
  }

  void perform(const Operation& operation, const run::StepRecord& record, unsigned depth) {
    const run::CaseStep& step = operation.step;
    const bool maps = step.sys == program::Sys::mmap || step.sys == program::Sys::mremap;
    const bool mapped = step.kind == StepKind::call && record.outcome == StepEnding::done && maps;
    if (mapped && record.value == run::kElsewhere) {
      const std::string name = fmt::format("m{}", ++elsewhere_);
      line(depth, fmt::format("{} = {}", name, text_of(operation)));
      line(depth, fmt::format("munmap({}, {:#x})", name, run::mapped_length(step)));
      return;
    }
    const bool plain = step.kind == StepKind::place_code || step.kind == StepKind::fill;
    if (plain && record.outcome == StepEnding::signal) {
      // Neither takes an assertion; both begin with a store, which does.
      line(depth, fmt::format("store({:#x}){}", step.arguments[0], assertion_text(record)));
      return;
    }
    line(depth, text_of(operation) + (plain ? "" : assertion_text(record)));
  }

  void line(unsigned depth, const std::string& text) {
    text_.append(4UL * depth, ' ');
    text_ += text + "\n";
  }

  const Drawn& drawn_;
  const std::vector<Told>& told_;
  unsigned elsewhere_ = 0;
  std::string text_;
};

}  // namespace

std::string program_text(const Drawn& drawn, const mm::Profile& profile) {
  const std::vector<Told> told = ask_model(drawn, profile);
  return Writer(drawn, told).write();
}

}  // namespace faultline::check
