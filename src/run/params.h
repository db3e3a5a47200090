#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "program/program.h"

namespace faultline::run {

/// The first name in `params` that the program does not declare as a `param` of its outermost block, if any.
std::optional<std::string> unknown_param(const program::Program& program,
                                         std::span<const std::pair<std::string, std::uint64_t>> params);

}  // namespace faultline::run
