#include "record/plugin/host_fault.h"

#include <csignal>

namespace faultline::record {

constinit thread_local HostFault host_fault;

namespace {

struct sigaction of_segv;  // QEMU's
struct sigaction of_bus;

void on_fault(int number, siginfo_t* info, void* ucontext) {
  const struct sigaction& before = number == SIGBUS ? of_bus : of_segv;
  // Not of an address that no page table reaches: the processor does not say which it was.
  if (info->si_code == SI_KERNEL) return before.sa_sigaction(number, info, ucontext);
  host_fault = {number, info->si_code, host_fault_was_store(ucontext) ? Touch::store : Touch::load,
                reinterpret_cast<std::uintptr_t>(info->si_addr)};
  before.sa_sigaction(number, info, ucontext);
  // QEMU comes back where it had protected the page itself, as it holds code that was translated. It does not where
  // the program gets a signal.
  host_fault.signal = 0;
}

void watch(int number, struct sigaction& before) {
  if (sigaction(number, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) == 0) return;
  struct sigaction action = before;
  action.sa_sigaction = on_fault;
  sigaction(number, &action, nullptr);
}

}  // namespace

void watch_host_faults() {
  watch(SIGSEGV, of_segv);
  watch(SIGBUS, of_bus);
}

}  // namespace faultline::record
