#include "report/question.h"

#include <algorithm>
#include <array>

namespace faultline::report {
namespace {

constexpr std::array kQuestions{
    QuestionName{Question::calls, "calls", "memory calls by site, and the faults that they cause later"},
    QuestionName{Question::faults, "faults", "faults by access and site"},
    QuestionName{Question::vmas, "vmas", "the number of VMAs over time, and when it reaches the limit"},
    QuestionName{Question::mappings, "mappings", "the VMAs when there are most, by the call that made them"},
    QuestionName{Question::merges, "merges", "why neighbours of equal permission are not one VMA then"},
    QuestionName{Question::protections, "protections", "changes of protection by length, pages present, and site"},
    QuestionName{Question::policies, "policies",
                 "what would fail: seals, MDWE, W^X, execute-only text, limits, guards"},
    QuestionName{Question::seals, "seals", "which mappings never change again and could be sealed, and when"},
    QuestionName{Question::dirty, "dirty", "what it costs to keep track of the pages that it dirties, in each way"},
};

}  // namespace

std::span<const QuestionName> questions() { return kQuestions; }

std::optional<Question> question_named(std::string_view name) {
  const auto* found = std::ranges::find(kQuestions, name, &QuestionName::name);
  return found == kQuestions.end() ? std::nullopt : std::optional(found->question);
}

}  // namespace faultline::report
