#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"

namespace faultline::program {

/// Appends the expression with no more parentheses than it needs.
void print_expression(const Expr& expr, std::string& out);

/// Appends "(a, b, c)".
void print_arguments(const std::vector<ExprPtr>& arguments, std::string& out);

/// The text as a string of the language, quotes included.
std::string quote(std::string_view text);

}  // namespace faultline::program
