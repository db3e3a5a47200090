#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "program/error.h"
#include "program/program.h"

namespace faultline::program {

/// How deep blocks may stand in blocks, and expressions in expressions: what walks a program may recurse safely.
inline constexpr unsigned kMaxBlockDepth = 100;
inline constexpr unsigned kMaxExpressionDepth = 200;

/// Reads a program (docs/language.md). `name` is for messages, usually the path. An empty text is an empty program.
/// The first error ends it. Time and memory are linear in the text.
///
/// The tree keeps these promises: every Slot is below slots.size(); every `exit` and every faults(), minflt() and
/// count() names a block of the program; arguments are as many as the call takes; `param` stands at the top level.
std::expected<Program, Error> parse(std::string_view text, std::string name);

}  // namespace faultline::program
