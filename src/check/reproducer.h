#pragma once

#include <string>

#include "check/operation.h"
#include "mm/profile.h"

namespace faultline::check {

/// A drawn program as a text that expects what the model gives: every result, and after every operation the VMAs, the
/// resident pages, their contents, and the digest of all that is compared. Run on a kernel, the lines that fail are
/// where it differs.
std::string program_text(const Drawn& drawn, const mm::Profile& profile);

}  // namespace faultline::check
