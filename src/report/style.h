#pragma once

#include <cstdint>

namespace faultline::report {

enum class Colour : std::uint8_t { off, on };

/// Colour for what goes to the file descriptor: on for a terminal, unless the environment holds a non-empty NO_COLOR
/// (no-color.org) or TERM is "dumb".
Colour colour_for(int descriptor);

/// What a line of output is, for its colour.
enum class Emphasis : std::uint8_t { none, heading, failure, aside };

}  // namespace faultline::report
