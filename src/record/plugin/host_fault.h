#pragma once

#include <cstdint>

#include "record/format.h"

/// Accesses that end in a signal. QEMU's plugins hear only of accesses that were made, so these are seen where QEMU
/// itself sees them: the program's memory is the host's, and the host sends SIGSEGV or SIGBUS.
namespace faultline::record {

struct HostFault {
  int signal = 0;             // 0: none
  int code = 0;               // si_code
  Touch touch{};              // load or store
  std::uint64_t address = 0;  // the host's
};

/// The last of this thread that QEMU did not settle by itself; whoever takes it sets its signal to 0.
extern constinit thread_local HostFault host_fault;

/// Puts itself before QEMU's handlers. Call once QEMU has installed them.
void watch_host_faults();

/// Did the access that was refused store? From the ucontext_t of its signal.
bool host_fault_was_store(const void* ucontext);

}  // namespace faultline::record
