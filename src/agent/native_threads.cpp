// How NativeKernel starts threads.

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "agent/native_kernel.h"

namespace faultline::agent {
namespace {

struct Start {
  const std::function<void(NativeKernel&, std::uint64_t)>* body = nullptr;
  ProcessState* process = nullptr;
  std::atomic<std::uint64_t>* missing = nullptr;  // threads that have not begun
  std::span<std::byte> signal_stack;
  std::uint64_t number = 0;
};

/// Takes the faults of the thread's own memory before it begins.
void touch_own_stack() {
  volatile char ahead[128 * 1024];
  for (std::size_t i = 0; i < sizeof ahead; i += kPageSize) ahead[i] = 0;
  asm volatile("" : : "r"(ahead) : "memory");
}

/// Thread by thread on the processors in turn. Where instructions are counted, none may depend on the kernel's choice;
/// and only threads on different processors have TLBs to shoot down.
void take_a_processor(std::uint64_t number) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(number % static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)), &own);
  sched_setaffinity(0, sizeof own, &own);
}

void* run_thread(void* argument) {
  const Start& start = *static_cast<const Start*>(argument);
  touch_own_stack();
  std::memset(start.signal_stack.data(), 0, start.signal_stack.size());
  FaultGuard::use_alternate_stack(start.signal_stack);
  if (start.process->meter.marks()) take_a_processor(start.number);
  NativeKernel kernel(*start.process);
  // Nobody sleeps meanwhile: a processor that is idle needs no TLB shootdown.
  --*start.missing;
  while (*start.missing != 0) sched_yield();
  (*start.body)(kernel, start.number);
  return nullptr;
}

}  // namespace

run::KernelFailure NativeKernel::threads(std::uint64_t count,
                                         const std::function<void(NativeKernel&, std::uint64_t)>& body) {
  if (count == 0) return std::nullopt;
  if (count > kMostThreads) return "live starts at most 256 threads";
  std::vector<Start> starts(count);
  std::vector<pthread_t> threads(count);
  std::atomic<std::uint64_t> missing = count;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::span<std::byte> memory =
        process_.thread_stacks.subspan(i * (kThreadStack + FaultGuard::kStack), kThreadStack + FaultGuard::kStack);
    starts[i] = {&body, &process_, &missing, memory.first(FaultGuard::kStack), i};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    // On memory that is mapped already, so that starting a thread makes no VMA.
    pthread_attr_setstack(&attributes, memory.data() + FaultGuard::kStack, kThreadStack);
    const int error = pthread_create(&threads[i], &attributes, run_thread, &starts[i]);
    pthread_attr_destroy(&attributes);
    // Those that have started wait for the others forever; the end of the process takes them along.
    if (error != 0) return "pthread_create: " + std::string(std::strerror(error));
  }
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  return std::nullopt;
}

}  // namespace faultline::agent
