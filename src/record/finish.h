#pragma once

#include <string>
#include <string_view>

#include "program/program.h"
#include "record/import.h"
#include "record/space.h"

namespace faultline::record {

/// A path as a line of text may hold it: anything but printable ASCII becomes "?".
std::string printable(std::string_view path);

/// Makes the statements of a process its program, whose text stands in `name`, and notes what the recording lacks.
void finish(RecordedProcess& process, Making making, program::Block statements, const std::string& name);

}  // namespace faultline::record
