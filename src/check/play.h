#pragma once

#include <string>

#include "check/operation.h"
#include "mm/profile.h"

namespace faultline::check {

/// How much a played program expects: one number per step, or what a person can read too.
enum class Detail : std::uint8_t { digest, readable };

/// Plays a case on a model, and writes it down as a child of a program, which expects from any other kernel what the
/// model gave: every result, and the state of the arena after every operation. `name` tells its children from those of
/// other cases.
std::string play(const Case& played, const mm::Profile& profile, Detail detail, const std::string& name);

}  // namespace faultline::check
