#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"

namespace faultline::program {

/// Builds a correct program out of a stream of choices; when they run out, the simplest is chosen, so that fewer or
/// smaller choices give a smaller program. Every program that the parser can make may come out.
Program random_program(const std::vector<std::uint32_t>& choices);

}  // namespace faultline::program
