#pragma once

#include <cstddef>
#include <cstdint>

#include "program/strace_statement.h"
#include "program/syscall.h"

namespace faultline::exports {

/// How that argument of a call is written.
program::Spelling spelling_of(program::Sys sys, std::size_t argument);

/// Where a slice has what was at that address: near the top, where a process has its libraries and its stack, it is
/// lower by a multiple of 512 GiB.
std::uint64_t moved(std::uint64_t address);

}  // namespace faultline::exports
