#pragma once

#include "check/operation.h"
#include "check/random.h"

namespace faultline::check {

/// Draws a program of so many operations: adjacent and overlapping ranges of the arena, protections, advice, seals,
/// locks, moves, forks, accesses in between, and bad arguments as often as people make such mistakes. Nothing that
/// docs/check.md lists as left out.
Case draw(Random& random, unsigned operations);

}  // namespace faultline::check
