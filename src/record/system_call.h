#pragma once

#include "program/syscall.h"
#include "record/format.h"

namespace faultline::record {

/// The call as the language names it.
program::Sys sys_of(Call call);

}  // namespace faultline::record
