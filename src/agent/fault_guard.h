#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/signal.h"

namespace faultline::agent {

/// What the signal handler found out.
struct CaughtFault {
  Signal signal;
  std::uint64_t pc = 0;
};

/// Where a thread's faulting instruction continues. Use it as
///   if (sigsetjmp(guard.jump(), 0) == 0) { guard.arm(); …access…; }
///   const auto fault = guard.disarm();
/// Locals that change between the two have to be volatile.
class FaultGuard {
 public:
  /// Enough for the registers of any processor and the handler.
  static constexpr std::size_t kStack = 32 * 1024;

  /// Handles SIGSEGV, SIGBUS, SIGILL, SIGTRAP and SIGFPE of this process, on a stack of their own while the calling
  /// thread runs. A fault outside of a guard ends the process as usual.
  static void install_handlers();
  /// Gives another thread the stack that its handler runs on.
  static void use_alternate_stack(std::span<std::byte> stack);

  sigjmp_buf& jump() { return jump_; }
  void arm();
  /// The fault, if there was one since arm().
  std::optional<CaughtFault> disarm();

 private:
  static void handle(int number, void* info, void* ucontext);

  sigjmp_buf jump_{};
  std::uint32_t key_rights_ = 0;  // of the program; a handler begins with others, and leaves without giving them back
  CaughtFault caught_;
  bool faulted_ = false;
};

}  // namespace faultline::agent
