#pragma once

#include <cstddef>
#include <string>

#include "base/errno.h"
#include "mm/address_space.h"
#include "run/kernel.h"

namespace faultline::machine {

/// The text that an argument of a call points to: a string of the program's own, or bytes in its memory. Errors: EFAULT
/// where that cannot be read; EINVAL for `most` bytes and more, its end not counted.
Result<std::string> text_argument(mm::AddressSpace& space, const run::CallRequest& call, std::size_t index,
                                  std::size_t most);

/// Is the argument a string of the program's own?
inline bool is_string(const run::CallRequest& call, std::size_t index) { return (call.strings >> index & 1U) != 0; }

}  // namespace faultline::machine
