#pragma once

#include "check/operation.h"
#include "check/random.h"

namespace faultline::check {

/// Draws a program of so many operations, those of children included: adjacent and overlapping ranges of the arena,
/// protections, advice, seals, locks, moves, files, limits, forks, accesses in between, and bad arguments as often as
/// people make such mistakes. Nothing that docs/differences.md lists.
Drawn draw(Random& random, unsigned operations);

}  // namespace faultline::check
