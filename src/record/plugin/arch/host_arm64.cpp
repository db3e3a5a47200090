#include <asm/sigcontext.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "record/plugin/host_fault.h"

namespace faultline::record {

bool host_fault_was_store(const void* ucontext) {
  constexpr std::uint64_t kWriteNotRead = std::uint64_t{1} << 6U;  // ESR_EL1.WnR
  const auto& reserved = static_cast<const ucontext_t*>(ucontext)->uc_mcontext.__reserved;
  for (std::size_t at = 0; at + sizeof(esr_context) <= sizeof reserved;) {
    _aarch64_ctx head{};
    std::memcpy(&head, reserved + at, sizeof head);
    if (head.magic == ESR_MAGIC) {
      esr_context context{};
      std::memcpy(&context, reserved + at, sizeof context);
      return (context.esr & kWriteNotRead) != 0;
    }
    if (head.size == 0) break;
    at += head.size;
  }
  return false;
}

}  // namespace faultline::record
