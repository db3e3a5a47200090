#include "agent/userfaultfd_call.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <algorithm>

namespace faultline::agent {

// Every struct is a row of 64-bit words, and begins with the fields that the caller fills in.
UserfaultfdCall::UserfaultfdCall(const run::CallRequest& call) : features_(call.arguments[3]) {
  std::copy(call.arguments.begin() + 2, call.arguments.end(), argument_.begin());
  raw_ = {SYS_ioctl, {call.arguments[0], call.arguments[1], reinterpret_cast<std::uint64_t>(argument_.data())}};
}

bool UserfaultfdCall::enables_waiting() const {
  return raw_.arguments[1] == UFFDIO_API && (features_ & UFFD_FEATURE_SIGBUS) == 0;
}

}  // namespace faultline::agent
