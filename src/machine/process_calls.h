#pragma once

#include <optional>
#include <string>

#include "mm/address_space.h"
#include "run/kernel.h"

namespace faultline::machine {

/// prctl(2) and prlimit(2) of a modelled process: what of the call is not modelled, if anything. Nothing for other
/// calls.
std::optional<std::string> unsupported_process_call(const run::CallRequest& call);
/// The outcome, or nothing for other calls.
std::optional<Result<std::uint64_t>> process_call(mm::AddressSpace& space, const run::CallRequest& call);

}  // namespace faultline::machine
