#pragma once

#include "check/operation.h"
#include "check/random.h"
#include "program/machine_pattern.h"

namespace faultline::check {

/// QEMU makes an atomic of x86-64 as a load and then a store, which fault one after the other (docs/vm.md): no kernel
/// is to be judged by that.
enum class Atomics : std::uint8_t { drawn, left_out };
Atomics atomics_on(const program::MachineId& machine);

/// Draws a program of so many operations, those of children included: adjacent and overlapping ranges of the arena,
/// protections, advice, seals, locks, moves, files, limits, forks, accesses in between, and bad arguments as often as
/// people make such mistakes. Nothing that docs/differences.md lists.
Drawn draw(Random& random, unsigned operations, Atomics atomics = Atomics::drawn);

}  // namespace faultline::check
