#include <ucontext.h>

#include "record/plugin/host_fault.h"

namespace faultline::record {

bool host_fault_was_store(const void* ucontext) {
  constexpr greg_t kWrite = 2;  // of a page fault's error code
  return (static_cast<const ucontext_t*>(ucontext)->uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
}

}  // namespace faultline::record
