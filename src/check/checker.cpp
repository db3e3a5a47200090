#include "check/checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/play.h"
#include "machine/model.h"
#include "program/parser.h"

namespace faultline::check {
namespace {

/// Cases of one run, and on which line of its text each begins.
struct Batch {
  std::string text;
  std::vector<std::uint32_t> first_lines;

  std::size_t case_of(std::uint32_t line) const {
    const auto after = std::ranges::upper_bound(first_lines, line);
    return static_cast<std::size_t>(after - first_lines.begin()) - 1;
  }
};

Batch batch_of(const std::vector<Case>& cases, const mm::Profile& profile, Detail detail) {
  Batch batch;
  std::uint32_t line = 1;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string text = play(cases[i], profile, detail, fmt::format("p{}", i));
    batch.first_lines.push_back(line);
    line += static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
    batch.text += text;
  }
  return batch;
}

struct Finding {
  std::uint32_t line = 0;
  std::string what;
};

void keep_first(std::optional<Finding>& first, Finding found) {
  if (!first || found.line < first->line) first = std::move(found);
}

void look_at_checks(const run::Report& report, std::optional<Finding>& first) {
  for (const run::Check& check : report.checks) {
    if (check.status == run::CheckStatus::held) continue;
    keep_first(first, {check.position.line, fmt::format("{}: {}", check.text, check.detail)});
  }
}

/// Faults by operation, as far as the machine counts them.
void look_at_faults(const run::Report& model, const run::Report& report, std::optional<Finding>& first) {
  for (std::size_t i = 0; i < std::min(model.rows.size(), report.rows.size()); ++i) {
    const run::Row& ours = model.rows[i];
    const run::Row& theirs = report.rows[i];
    if (ours.calls != theirs.calls) continue;  // one of them ended before, which the checks tell
    for (const Counter counter : {Counter::exceptions, Counter::minor_faults}) {
      if (!theirs.known.test(std::to_underlying(counter))) continue;
      std::uint64_t expected = ours.counted[counter];
      // perf, by which live counts, does not see these.
      if (counter == Counter::exceptions) expected -= ours.counted[Counter::fault_disabled];
      if (expected == theirs.counted[counter]) continue;
      keep_first(first, {ours.line, fmt::format("{}: {} on the machine, {} on the model, {}", ours.text,
                                                theirs.counted[counter], expected, counter_title(counter))});
    }
  }
}

}  // namespace

Checker::Checker(mm::Profile profile, machine::Machine& against)
    : profile_(std::move(profile)), model_(machine::make_model(profile_)), against_(against) {}

std::expected<std::optional<Difference>, std::string> Checker::compare(const std::vector<Case>& cases) {
  const Batch batch = batch_of(cases, profile_, Detail::digest);
  const auto program = program::parse(batch.text, "check");
  if (!program) return std::unexpected(program::render(program.error()));
  const run::Report model = model_->run(*program, {});
  const run::Report report = against_.run(*program, {});
  std::optional<Finding> first;
  look_at_checks(report, first);
  look_at_faults(model, report, first);
  if (first) return Difference{cases[batch.case_of(first->line)], first->what};
  if (report.ending != run::Ending::completed) {
    return std::unexpected(fmt::format("{}: the run did not end well at line {}: {}", against_.name(),
                                       report.ended_at.line, report.detail));
  }
  return std::nullopt;
}

std::expected<Difference, std::string> Checker::shrink(Difference difference) {
  // From the end: what comes last matters most, and what came after it not at all.
  for (std::size_t chunk = std::max<std::size_t>(difference.played.size() / 2, 1); chunk > 0; chunk /= 2) {
    for (std::size_t end = difference.played.size(); end > 0; end = end > chunk ? end - chunk : 0) {
      if (end > difference.played.size()) continue;
      Case fewer = difference.played;
      const std::size_t begin = end > chunk ? end - chunk : 0;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(begin), fewer.begin() + static_cast<std::ptrdiff_t>(end));
      if (fewer.empty()) continue;
      auto still = compare({fewer});
      if (!still) return std::unexpected(still.error());
      if (*still) difference = std::move(**still);
    }
  }
  return difference;
}

std::string Checker::reproducer(const Difference& difference) const {
  return fmt::format("# Where model:{} and {} differ:\n#   {}\n{}", profile_.name, against_.kernel(), difference.what,
                     play(difference.played, profile_, Detail::readable, ""));
}

}  // namespace faultline::check
