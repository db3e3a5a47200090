#include "report/answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"
#include "report/peak_study.h"
#include "report/recording_report.h"
#include "report/recording_tables.h"
#include "report/seal_study.h"

namespace faultline::report {
namespace {

Answer table_alone(Table table) { return {{}, {table}, table, {}}; }

template <class Study>
void watch(const Subject& subject, Study& study) {
  machine::explain(subject.profile, subject.recorded().program, subject.settings, study, study);
}

Answer at_the_peak(Question question, const Subject& subject, const StudyFigures& figures) {
  if (figures.vmas.empty()) return {};
  const VmaPoint peak = *std::ranges::max_element(figures.vmas, {}, &VmaPoint::vmas);
  PeakStudy study(subject.recording, subject.symbols, peak.step);
  watch(subject, study);
  const std::string when = fmt::format("after call {}, when there are most", thousands(peak.call));
  if (question == Question::mappings) {
    Answer answer = table_alone(study.mappings());
    answer.lines.push_back(fmt::format("{} {}", plural(study.vmas(), "VMA", "VMAs"), when));
    return answer;
  }
  Answer answer = table_alone(study.merges());
  answer.lines.push_back(fmt::format("{} {}; {} of them adjacent, {} of equal permission",
                                     plural(study.vmas(), "VMA", "VMAs"), when,
                                     plural(study.adjacent(), "pair", "pairs"), thousands(study.alike())));
  return answer;
}

Answer policies(const Subject& subject, const PolicyOptions& options) {
  const PolicyMatrix matrix = policy_matrix(subject, options);
  return {{}, {policy_cells(matrix)}, policy_refusals(matrix), policy_overview(matrix)};
}

Answer seals(const Subject& subject, const StudyFigures& figures) {
  SealStudy study(subject.recording, subject.symbols, figures.last_step);
  watch(subject, study);
  Answer answer{{}, {study.by_call()}, study.over_time(), {}};
  answer.lines.push_back(fmt::format(
      "{} of {} at the end: half of them could be sealed after call {}, nine of ten after call {}, all after call {}",
      plural(study.vmas(), "VMA", "VMAs"), plural(study.pages(), "page", "pages"), thousands(study.calls_until(0.5)),
      thousands(study.calls_until(0.9)), thousands(study.calls_until(1))));
  return answer;
}

Answer dirty(const Subject& subject, const DirtyOptions& options) {
  const DirtyFigures figures = compare_trackers(subject, options);
  Answer answer = table_alone(dirty_table(figures));
  answer.lines.push_back(
      fmt::format("{}; at most {} of private writable memory to track, {} without a tracker. What each adds in one "
                  "interval, on average:",
                  plural(figures.intervals, "interval", "intervals"), plural(figures.tracked_pages, "page", "pages"),
                  plural(figures.most_vmas, "VMA at most", "VMAs at most")));
  return answer;
}

}  // namespace

Answer answer(Question question, const Subject& subject, const StudyFigures& figures, const AnswerOptions& options) {
  switch (question) {
    case Question::calls:
      return table_alone(call_table(figures));
    case Question::faults:
      return table_alone(fault_table(figures));
    case Question::vmas:
      return {{vma_lines(figures)}, {}, vma_table(figures), {}};
    case Question::mappings:
    case Question::merges:
      return at_the_peak(question, subject, figures);
    case Question::protections:
      return table_alone(protection_table(figures));
    case Question::policies:
      return policies(subject, options.policies);
    case Question::seals:
      return seals(subject, figures);
    case Question::dirty:
      return dirty(subject, options.dirty);
  }
  return {};
}

std::string answer_text(const Answer& answer, std::size_t most, Colour colour) {
  std::string text;
  for (const std::string& line : answer.lines) text += line + "\n";
  bool follows = answer.overview.has_value();
  if (follows) text += table_text(*answer.overview, answer.overview->rows.size(), colour);
  for (const Table& table : answer.shown) {
    const std::string shown = table_text(table, most, colour);
    if (follows && !shown.empty()) text += "\n";
    text += shown;
    follows = follows || !shown.empty();
  }
  return text;
}

}  // namespace faultline::report
