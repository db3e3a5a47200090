#pragma once

#include "program/program.h"
#include "run/wire.h"

namespace faultline::run {

void transfer(Writer& writer, program::Program& program);
void transfer(Reader& reader, program::Program& program);
void transfer(Writer& writer, program::MachineId& machine);
void transfer(Reader& reader, program::MachineId& machine);
template <class Archive>
void transfer(Archive& archive, program::Position& position) {
  transfer(archive, position.line);
  transfer(archive, position.column);
}

/// A decoded program may name slots that it does not have, or lack an operand that the executor relies on.
bool well_formed(const program::Program& program);

}  // namespace faultline::run
