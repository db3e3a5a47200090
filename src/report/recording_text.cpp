#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "report/footnotes.h"
#include "report/format.h"
#include "report/grid.h"
#include "report/recording_report.h"
#include "report/recording_tables.h"

namespace faultline::report {
namespace {

/// A bar per part of the recording: the most VMAs of each.
std::string picture(const StudyFigures& figures) {
  constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kColumns = 40;
  std::array<std::uint64_t, kColumns> most{};
  std::uint64_t peak = 1;
  for (std::size_t i = 0; i < figures.vmas.size(); ++i) {
    const auto column = [&](std::uint64_t call) {
      return call * (kColumns - 1) / std::max<std::uint64_t>(figures.memory_calls, 1);
    };
    const std::uint64_t first = column(figures.vmas[i].call);
    const std::uint64_t last = i + 1 < figures.vmas.size() ? column(figures.vmas[i + 1].call) : kColumns - 1;
    for (std::uint64_t c = first; c <= std::min<std::uint64_t>(last, kColumns - 1); ++c) {
      most[c] = std::max(most[c], figures.vmas[i].vmas);
    }
    peak = std::max(peak, figures.vmas[i].vmas);
  }
  std::string text;
  for (const std::uint64_t vmas : most) text += kBars[vmas * (kBars.size() - 1) / peak];
  return text;
}

/// A figure, or nothing for 0, so that what is there is seen.
std::string cell(std::uint64_t value) { return value == 0 ? "" : thousands(value); }

std::string left_out(std::size_t all, std::size_t shown) {
  return all <= shown ? "" : fmt::format("  … and {} more\n", thousands(all - shown));
}

std::string ending(const record::RecordedProcess& process) {
  switch (process.ending) {
    case record::ProcessEnding::unknown:
      return "did not end by itself";
    case record::ProcessEnding::exited:
      return fmt::format("ended with status {}", process.status);
    case record::ProcessEnding::executed:
      return "executed something else";
  }
  return {};
}

/// Of a recording of several: which there are.
std::string processes(const record::Import& recording, std::size_t most, Colour colour) {
  if (recording.processes.size() < 2) return {};
  Grid grid({Align::left, Align::left, Align::right, Align::right, Align::right, Align::left});
  grid.set_heading({"process", "program", "memory calls", "touches", "forks", "ending"});
  for (const record::RecordedProcess& process : recording.processes | std::views::take(most)) {
    grid.add(
        {process.id, process.path, cell(process.calls), cell(process.accesses), cell(process.forks), ending(process)});
  }
  return "\n" + grid.text(colour) + left_out(recording.processes.size(), most);
}

std::string results(const run::Report& run) {
  const auto count = [&](run::CheckStatus status) {
    return static_cast<std::uint64_t>(std::ranges::count(run.checks, status, &run::Check::status));
  };
  const std::uint64_t failed = count(run::CheckStatus::failed);
  std::string text = fmt::format("{} of {} recorded results hold\n", thousands(count(run::CheckStatus::held)),
                                 thousands(run.checks.size()));
  constexpr std::uint64_t kMostShown = 5;
  std::uint64_t shown = 0;
  for (const run::Check& check : run.checks) {
    if (check.status != run::CheckStatus::failed || shown++ == kMostShown) continue;
    text += fmt::format("  differs: {}: {}\n", check.text, check.detail);
    if (shown == kMostShown) break;
  }
  if (failed > kMostShown) text += fmt::format("  … and {} more\n", thousands(failed - kMostShown));
  if (run.ending != run::Ending::completed) text += fmt::format("  {}: {}\n", run.machine, ending_text(run));
  return text;
}

/// The kernel's own count of the command, and how far the model is from it.
std::string native_text(const RecordingReport& report) {
  if (!report.recording.native || !report.all_faults) return {};
  const record::Native& native = *report.recording.native;
  const std::uint64_t faults = native.minor_faults + native.major_faults;
  std::string text = fmt::format("without QEMU: {} faults ({} of them major)", thousands(faults),
                                 native.major_faults == 0 ? "none" : thousands(native.major_faults));
  if (native.perf != record::PerfCount::none) {
    text += fmt::format(", {}{} by perf", thousands(native.page_faults),
                        native.perf == record::PerfCount::of_user_mode ? " in user mode" : "");
  }
  const std::size_t processes = report.recording.processes.size();
  text += fmt::format("; the model{}: {}", processes > 1 ? ", all processes" : "", thousands(*report.all_faults));
  if (faults > 0) {
    text += ", " + percent_change(static_cast<double>(*report.all_faults) / static_cast<double>(faults));
  }
  return text + "\n";
}

}  // namespace

std::optional<std::uint64_t> calls_until_limit(const StudyFigures& figures) {
  if (figures.vmas.empty() || figures.limit == 0) return std::nullopt;
  const std::uint64_t half = figures.memory_calls / 2;
  const VmaPoint end = figures.vmas.back();
  VmaPoint middle = figures.vmas.front();
  for (const VmaPoint& point : figures.vmas) {
    if (point.call <= half) middle = point;
  }
  // A few VMAs more are a program that started, not one that grows.
  constexpr std::uint64_t kLeastGrowth = 16;
  const std::uint64_t calls = figures.memory_calls - half;
  if (end.vmas < middle.vmas + kLeastGrowth || end.vmas >= figures.limit || calls == 0) return std::nullopt;
  return (figures.limit - end.vmas) * calls / (end.vmas - middle.vmas);
}

std::string vma_lines(const StudyFigures& figures) {
  if (figures.vmas.empty()) return {};
  const auto peak = std::ranges::max_element(figures.vmas, {}, &VmaPoint::vmas);
  std::string text = fmt::format("VMAs  {}  {} at most, after call {}; {} at the end; the limit is {}",
                                 picture(figures), thousands(peak->vmas), thousands(peak->call),
                                 thousands(figures.vmas.back().vmas), thousands(figures.limit));
  if (const auto calls = calls_until_limit(figures)) {
    text += fmt::format("\n      growing on as in the second half, they reach it after {} more memory calls",
                        thousands(*calls));
  }
  return text;
}

std::string recording_text(const RecordingReport& report, const std::vector<Asked>& asked, std::size_t most,
                           Colour colour) {
  const StudyFigures& figures = report.figures;
  const record::RecordedProcess& process = report.process;
  std::string text =
      fmt::format("{} · process {} · {}, {}, {} · {}\n", process.path, process.id,
                  plural(process.calls, "memory call", "memory calls"), plural(process.accesses, "touch", "touches"),
                  plural(process.forks, "fork", "forks"), ending(process));
  text += fmt::format("{}: {} faults ({} exceptions): {}\n", report.run.machine,
                      thousands(figures.counted[Counter::minor_faults]),
                      thousands(figures.counted[Counter::exceptions]), fault_kinds(figures.counted));
  text += native_text(report);
  text += results(report.run);
  if (!asked.empty()) {
    for (const Asked& one : asked) text += "\n" + answer_text(one.answer, most, colour);
    return text;
  }
  text += "\n" + table_text(call_table(figures), most, colour) + "\n" + table_text(fault_table(figures), most, colour);
  if (!figures.vmas.empty()) text += "\n" + vma_lines(figures) + "\n";
  const std::string changes = table_text(protection_table(figures), most, colour);
  if (!changes.empty()) text += "\n" + changes;
  text += processes(report.recording, most, colour);
  for (const auto* notes : {&process.notes, &report.recording.notes}) {
    for (const std::string& note : *notes) text += "\nnote: " + note;
    if (!notes->empty()) text += "\n";
  }
  return text;
}

}  // namespace faultline::report
