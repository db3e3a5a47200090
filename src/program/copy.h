#pragma once

#include "program/program.h"

namespace faultline::program {

/// Copies of all that is below.
ExprPtr copy(const ExprPtr& expr);
Statement copy(const Statement& statement);
Block copy(const Block& block);
Program copy(const Program& program);

}  // namespace faultline::program
