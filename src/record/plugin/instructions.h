#pragma once

#include <cstdint>
#include <span>

#include "record/format.h"

namespace faultline::record {

enum class Instruction : std::uint8_t { other, call, system_call, atomic };

/// What a recording needs to know of an instruction, from its bytes.
Instruction classify(Machine machine, std::span<const std::uint8_t> bytes);

}  // namespace faultline::record
