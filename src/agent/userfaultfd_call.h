#pragma once

#include <array>
#include <cstdint>

#include "agent/system_call.h"
#include "run/kernel.h"

namespace faultline::agent {

/// ioctl_userfaultfd(2) as the language has it: the fields of the struct are arguments (program/ioctl.h).
class UserfaultfdCall {
 public:
  /// The call refers to this object, which holds the struct.
  explicit UserfaultfdCall(const run::CallRequest& call);

  const RawCall& raw() const { return raw_; }
  /// Is it UFFDIO_API without UFFD_FEATURE_SIGBUS, after which faults wait for a handler?
  bool enables_waiting() const;

 private:
  std::uint64_t features_ = 0;               // as asked for
  std::array<std::uint64_t, 6> argument_{};  // no struct is larger
  RawCall raw_{};
};

}  // namespace faultline::agent
