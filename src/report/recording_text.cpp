#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "report/footnotes.h"
#include "report/format.h"
#include "report/grid.h"
#include "report/recording_report.h"

namespace faultline::report {
namespace {

constexpr std::array kRecordedFaults{Counter::fault_read,  Counter::fault_write,  Counter::fault_file,
                                     Counter::fault_copy,  Counter::fault_reuse,  Counter::fault_spurious,
                                     Counter::fault_guard, Counter::fault_signal, Counter::populated};

std::string_view short_title(Counter counter) {
  switch (counter) {
    case Counter::fault_read:
      return "first reads";
    case Counter::fault_write:
      return "first writes";
    case Counter::fault_file:
      return "file pages";
    case Counter::fault_copy:
      return "copies";
    case Counter::fault_reuse:
      return "write upgrades";
    case Counter::fault_spurious:
      return "spurious";
    case Counter::fault_guard:
      return "guard hits";
    case Counter::fault_signal:
      return "signals";
    default:
      return "by the kernel for itself";
  }
}

std::string kinds(const Counters& counted) {
  std::string text;
  for (const Counter kind : kRecordedFaults) {
    if (counted[kind] == 0) continue;
    text += (text.empty() ? "" : ", ") + thousands(counted[kind]) + " " + std::string(short_title(kind));
  }
  return text;
}

/// A figure, or nothing for 0, so that what is there is seen.
std::string cell(std::uint64_t value) { return value == 0 ? "" : thousands(value); }

std::string protection(std::optional<Prot> prot) {
  if (!prot) return "mixed";
  std::string text = "---";
  if (has(*prot, Prot::read)) text[0] = 'r';
  if (has(*prot, Prot::write)) text[1] = 'w';
  if (has(*prot, Prot::exec)) text[2] = 'x';
  return text;
}

/// "1", "2–3", "4–7".
std::string bucket(std::uint64_t low) {
  if (low <= 1) return thousands(low);
  return thousands(low) + "–" + thousands(2 * low - 1);
}

/// The entries, largest first, those of one size as they were.
template <class Map, class Size>
std::vector<const typename Map::value_type*> largest(const Map& map, std::size_t most, Size size) {
  std::vector<const typename Map::value_type*> entries;
  for (const auto& entry : map) entries.push_back(&entry);
  std::ranges::stable_sort(entries, [&](const auto* a, const auto* b) { return size(a->second) > size(b->second); });
  if (entries.size() > most) entries.resize(most);
  return entries;
}

std::string left_out(std::size_t all, std::size_t shown) {
  return all <= shown ? "" : fmt::format("  … and {} more\n", thousands(all - shown));
}

std::string call_sites(const StudyFigures& figures, std::size_t most, Colour colour) {
  Grid grid({Align::left, Align::left, Align::right, Align::right, Align::right, Align::right, Align::right,
             Align::right, Align::right, Align::right, Align::right});
  grid.set_heading(
      {"call", "site", "calls", "failed", "pages", "present", "PTEs", "splits", "merges", "flushes", "faults later"});
  const auto entries =
      largest(figures.calls, most, [](const CallFigures& f) { return std::pair(f.later_faults, f.calls); });
  for (const auto* entry : entries) {
    const CallFigures& f = entry->second;
    grid.add({entry->first.call, entry->first.site, cell(f.calls), cell(f.failures), cell(f.bytes / 4096),
              cell(f.present), cell(f.counted[Counter::ptes_changed]), cell(f.counted[Counter::splits]),
              cell(f.counted[Counter::merges]),
              cell(f.counted[Counter::flushes_ranged] + f.counted[Counter::flushes_full]), cell(f.later_faults)});
  }
  return grid.text(colour) + left_out(figures.calls.size(), entries.size());
}

std::string fault_sites(const StudyFigures& figures, std::size_t most, Colour colour) {
  Grid grid({Align::left, Align::left, Align::right, Align::left});
  grid.set_heading({"access", "site", "faults", "kinds"});
  const auto entries = largest(figures.faults, most, [](const Counters& c) { return c[Counter::minor_faults]; });
  for (const auto* entry : entries) {
    grid.add({entry->first.access, entry->first.site, thousands(entry->second[Counter::minor_faults]),
              kinds(entry->second)});
  }
  return grid.text(colour) + left_out(figures.faults.size(), entries.size());
}

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

std::string vmas(const StudyFigures& figures) {
  if (figures.vmas.empty()) return {};
  const auto peak = std::ranges::max_element(figures.vmas, {}, &VmaPoint::vmas);
  std::string text = fmt::format("VMAs  {}  {} at most, after call {}; {} at the end; the limit is {}\n",
                                 picture(figures), thousands(peak->vmas), thousands(peak->call),
                                 thousands(figures.vmas.back().vmas), thousands(figures.limit));
  if (const auto calls = calls_until_limit(figures)) {
    text += fmt::format("      growing on as in the second half, they reach it after {} more memory calls\n",
                        thousands(*calls));
  }
  return text;
}

std::string protections(const StudyFigures& figures, std::size_t most, Colour colour) {
  if (figures.protections.empty()) return {};
  Grid grid({Align::right, Align::right, Align::left, Align::right, Align::left});
  grid.set_heading({"pages", "present", "change", "times", "site"});
  const auto entries = largest(figures.protections, most, [](std::uint64_t n) { return n; });
  for (const auto* entry : entries) {
    const ProtectionChange& change = entry->first;
    grid.add({bucket(change.pages), bucket(change.present),
              protection(change.before) + " → " + protection(change.after), thousands(entry->second), change.site});
  }
  return grid.text(colour) + left_out(figures.protections.size(), entries.size());
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

std::string recording_text(const RecordingReport& report, std::size_t most, Colour colour) {
  const StudyFigures& figures = report.figures;
  const record::RecordedProcess& process = report.process;
  std::string text =
      fmt::format("{} · process {} · {}, {}, {} · {}\n", process.path, process.id,
                  plural(process.calls, "memory call", "memory calls"), plural(process.accesses, "touch", "touches"),
                  plural(process.forks, "fork", "forks"), ending(process));
  text += fmt::format("{}: {} faults ({} exceptions): {}\n", report.run.machine,
                      thousands(figures.counted[Counter::minor_faults]),
                      thousands(figures.counted[Counter::exceptions]), kinds(figures.counted));
  text += results(report.run) + "\n";
  text += call_sites(figures, most, colour) + "\n" + fault_sites(figures, most, colour) + "\n" + vmas(figures);
  if (const std::string changes = protections(figures, most, colour); !changes.empty()) text += "\n" + changes;
  text += processes(report.recording, most, colour);
  for (const auto* notes : {&process.notes, &report.recording.notes}) {
    for (const std::string& note : *notes) text += "\nnote: " + note;
    if (!notes->empty()) text += "\n";
  }
  return text;
}

}  // namespace faultline::report
