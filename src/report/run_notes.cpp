// The footnotes about the run: expectations, how it ended, and what the machines want a reader to know.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/footnotes.h"
#include "report/format.h"

namespace faultline::report {
namespace {

using run::CheckStatus;

constexpr std::size_t kWidestDetail = 200;

struct Tally {
  std::uint64_t held = 0;
  std::uint64_t failed = 0;
  std::uint64_t skipped = 0;
  bool operator==(const Tally&) const = default;
};

Tally tally(const run::Report& report) {
  Tally tally;
  for (const run::Check& check : report.checks) {
    switch (check.status) {
      case CheckStatus::held:
        ++tally.held;
        break;
      case CheckStatus::failed:
        ++tally.failed;
        break;
      case CheckStatus::skipped:
        ++tally.skipped;
        break;
      case CheckStatus::elsewhere:
        break;
    }
  }
  return tally;
}

std::string tally_text(const Tally& tally) {
  if (tally == Tally{}) return "no expectation is for this machine";
  std::string text = plural(tally.held, "expectation held", "expectations held");
  if (tally.failed > 0) text += fmt::format(", {} failed", thousands(tally.failed));
  if (tally.skipped > 0) text += fmt::format(", {} skipped", thousands(tally.skipped));
  return text;
}

std::string on_every_machine(std::size_t machines) {
  return machines == 1 ? "" : machines == 2 ? " on both" : fmt::format(" on all {}", machines);
}

Emphasis emphasis(const Tally& tally) { return tally.failed > 0 ? Emphasis::failure : Emphasis::none; }

std::string place(const program::Position& position) {
  return position.line == 0 ? "" : fmt::format(" at line {}", position.line);
}

std::string with_detail(std::string text, const std::string& detail) {
  // A kernel's console comes in lines.
  std::string_view separator = ": ";
  for (std::string_view rest = detail; !rest.empty(); separator = "\n  ") {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += separator;
    text += printable(rest.substr(0, end), kWidestDetail);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

}  // namespace

std::vector<Footnote> checks(const Comparison& comparison) {
  std::vector<Footnote> notes;
  std::vector<Tally> tallies;
  for (const run::Report& report : comparison.reports) {
    for (const run::Check& check : report.checks) {
      if (check.status != CheckStatus::failed) continue;
      const std::string what = fmt::format("line {} FAILED on {}: {}", check.position.line, report.machine,
                                           printable(check.text, kWidestDetail));
      notes.push_back({with_detail(what, check.detail), Emphasis::failure});
    }
    tallies.push_back(tally(report));
  }
  const bool any = std::ranges::any_of(comparison.reports, [](const auto& report) { return !report.checks.empty(); });
  if (!any) return notes;
  if (std::ranges::adjacent_find(tallies, std::ranges::not_equal_to{}) == tallies.end()) {
    notes.push_back({tally_text(tallies.front()) + on_every_machine(tallies.size()), emphasis(tallies.front())});
    return notes;
  }
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    notes.push_back(
        {fmt::format("{}: {}", comparison.reports[i].machine, tally_text(tallies[i])), emphasis(tallies[i])});
  }
  return notes;
}

std::string ending_text(const run::Report& report) {
  const std::string at = place(report.ended_at);
  switch (report.ending) {
    case run::Ending::completed:
      return "completed";
    case run::Ending::signal:
      return with_detail(fmt::format("killed by {}{}", report.signal ? to_string(*report.signal) : "a signal", at),
                         report.detail);
    case run::Ending::timeout:
      return with_detail("stopped by the time limit" + at, report.detail);
    case run::Ending::interrupted:
      return with_detail("interrupted" + at, report.detail);
    case run::Ending::unsupported:
      return with_detail("cannot run this program" + at, report.detail);
    case run::Ending::misuse:
      return with_detail("the program is wrong" + at, report.detail);
    case run::Ending::failed:
      return with_detail("the machine failed" + at, report.detail);
  }
  return {};
}

std::vector<Footnote> endings(const Comparison& comparison) {
  std::vector<Footnote> notes;
  for (const run::Report& report : comparison.reports) {
    if (report.ending != run::Ending::completed) {
      notes.push_back({fmt::format("{}: {}", report.machine, ending_text(report)), Emphasis::failure});
    }
    for (const std::string& note : report.notes) {
      notes.push_back({fmt::format("{}: {}", report.machine, printable(note, kWidestDetail)), Emphasis::aside});
    }
  }
  return notes;
}

}  // namespace faultline::report
