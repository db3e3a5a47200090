#pragma once

#include <string>

#include "program/program.h"

namespace faultline::program {

/// A program's text in one fixed style: parsing it gives an equal program, and printing that gives the same text.
/// Comments are lost, but for the first line that says what the program answers.
std::string print(const Program& program);

/// One statement on one line; of a block only its header, without the brace.
std::string print_title(const Statement& statement);

std::string print(const Expr& expr);

}  // namespace faultline::program
