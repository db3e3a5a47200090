#pragma once

#include "program/program.h"

namespace faultline::program {

/// Whether two programs do the same in the same way: the trees are equal, slots and names included. Positions, the
/// source text of statements and of numbers, and Program::name do not count.
bool equal(const Program& a, const Program& b);
bool equal(const Expr& a, const Expr& b);
/// Is it "-1", as a failed call's result and mmap's missing file are written?
bool is_minus_one(const Expr& expr);

}  // namespace faultline::program
