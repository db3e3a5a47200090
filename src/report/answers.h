#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/dirty_study.h"
#include "report/policy_matrix.h"
#include "report/question.h"
#include "report/recording_study.h"
#include "report/subject.h"
#include "report/table.h"

namespace faultline::report {

/// What a model says to one question.
struct Answer {
  std::vector<std::string> lines;  // for readers, before the tables
  std::vector<Table> shown;        // for readers
  Table data;
  std::optional<Table> overview;  // for both, where there is one: as a whole
};

struct AnswerOptions {
  PolicyOptions policies;
  DirtyOptions dirty;
};

/// Answers with what a study has found on that model, and runs the recording again where that does not say enough.
Answer answer(Question question, const Subject& subject, const StudyFigures& figures, const AnswerOptions& options);

/// No more than `most` lines of each table.
std::string answer_text(const Answer& answer, std::size_t most, Colour colour);

}  // namespace faultline::report
