#pragma once

#include <pthread.h>

#include <array>
#include <cstddef>
#include <span>

namespace faultline::agent {

/// Threads that answer the faults of the program's userfaultfds, which would otherwise wait forever: a missing page
/// gets zeroes (UFFDIO_COPY), a write-protected one is unprotected (UFFDIO_WRITEPROTECT), one page at a time. As the
/// model does (src/mm/userfault.h).
class UserfaultHandlers {
 public:
  static constexpr std::size_t kMost = 4;
  static constexpr std::size_t kStack = 64 * 1024;

  /// Where their stacks lie, kMost * kStack bytes; without it nothing is started.
  void use_stacks(std::span<std::byte> memory) { stacks_ = memory; }
  /// Begins to answer for a descriptor. False when no more threads can be had.
  bool start(int descriptor);
  /// Ends that, before the descriptor is closed: a thread that waits would keep it open.
  void stop(int descriptor);
  /// After a fork: the threads are the parent's.
  void forget() { handlers_ = {}; }

 private:
  struct Handler {
    int descriptor = -1;
    int leave = -1;  // an eventfd that ends the thread
    pthread_t thread{};
  };
  static void* serve(void* handler);

  std::array<Handler, kMost> handlers_{};
  std::span<std::byte> stacks_;
};

}  // namespace faultline::agent
