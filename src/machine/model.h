#pragma once

#include <memory>

#include "machine/machine.h"
#include "mm/profile.h"

namespace faultline::machine {

/// A kernel as src/mm models it.
std::unique_ptr<Machine> make_model(mm::Profile profile);

}  // namespace faultline::machine
