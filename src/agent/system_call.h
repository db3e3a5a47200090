#pragma once

#include "run/kernel.h"

namespace faultline::agent {

/// A call with its number and arguments as this processor's ABI has them.
struct RawCall {
  long number = 0;
  std::uint64_t arguments[6] = {};
};

RawCall raw_call(const run::CallRequest& call);

}  // namespace faultline::agent
