#include "agent/fault_guard.h"

#include <csignal>

#include "agent/arch.h"

namespace faultline::agent {
namespace {

constexpr int kHandled[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};

thread_local FaultGuard* armed = nullptr;

}  // namespace

void FaultGuard::handle(int number, void* info, void* ucontext) {
  FaultGuard* guard = armed;
  if (guard == nullptr) {
    // Not an access of the program: let the instruction fault again, with nobody to catch it.
    signal(number, SIG_DFL);
    return;
  }
  armed = nullptr;
  const auto* details = static_cast<const siginfo_t*>(info);
  guard->caught_.signal = {number, details->si_code, Addr{reinterpret_cast<std::uint64_t>(details->si_addr)}};
  const bool by_key = number == SIGSEGV && details->si_code == kSegvPkuErr;
  if (by_key) guard->caught_.signal.pkey = details->si_pkey;
  guard->caught_.pc = arch::program_counter(ucontext);
  guard->faulted_ = true;
  siglongjmp(guard->jump_, 1);
}

void FaultGuard::install_handlers() {
  struct sigaction action{};
  action.sa_sigaction = [](int number, siginfo_t* info, void* ucontext) { handle(number, info, ucontext); };
  // Not deferred: the handler leaves by a jump that restores no mask.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const int number : kHandled) sigaction(number, &action, nullptr);
  alignas(16) static std::byte stack[kStack];
  use_alternate_stack(stack);
}

void FaultGuard::use_alternate_stack(std::span<std::byte> stack) {
  stack_t alternate{};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  sigaltstack(&alternate, nullptr);
}

void FaultGuard::arm() {
  faulted_ = false;
  key_rights_ = arch::key_rights();
  armed = this;
}

std::optional<CaughtFault> FaultGuard::disarm() {
  armed = nullptr;
  if (!faulted_) return std::nullopt;
  faulted_ = false;
  arch::set_key_rights(key_rights_);
  return caught_;
}

}  // namespace faultline::agent
