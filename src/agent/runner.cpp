#include "agent/runner.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "agent/native_kernel.h"
#include "run/executor.h"

namespace faultline::agent {
namespace {

static_assert(run::Kernel<NativeKernel>);

bool starts_threads(const program::Block& block) {
  return std::ranges::any_of(block, [](const program::Statement& s) {
    return std::visit(
        [](const auto& node) {
          using Node = std::decay_t<decltype(node)>;
          if constexpr (std::is_same_v<Node, program::Threads>) return true;
          if constexpr (requires { node.body; }) return starts_threads(node.body);
          return false;
        },
        s.node);
  });
}

bool calls(const program::Block& block, program::Sys sys) {
  return std::ranges::any_of(block, [sys](const program::Statement& s) {
    return std::visit(
        [sys](const auto& node) {
          using Node = std::decay_t<decltype(node)>;
          if constexpr (std::is_same_v<Node, program::SystemCall>) return node.sys == sys;
          if constexpr (requires { node.body; }) return calls(node.body, sys);
          return false;
        },
        s.node);
  });
}

/// Most kernels map the shared zero page on a read, and a write then faults again; some forbid that.
bool maps_zero_page(NativeKernel& kernel) {
  const std::span<std::byte> page = map_memory(kPageSize, Sharing::own);
  if (page.empty()) return true;
  const Addr addr{reinterpret_cast<std::uint64_t>(page.data())};
  kernel.access({AccessKind::load, addr, 1, kPageSize, 0, {}});
  const std::uint64_t before = kernel.counters()[Counter::minor_faults];
  kernel.access({AccessKind::store, addr, 1, kPageSize, 1, {}});
  const bool faulted = kernel.counters()[Counter::minor_faults] != before;
  munmap(page.data(), page.size());
  return faulted;
}

}  // namespace

void run_program(const run::Request& request, const run::Plan& plan, const Meter& meter, std::span<std::byte> memory) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  FaultGuard::install_handlers();

  run::Ledger ledger(plan, memory);
  ProcessState process{&ledger, meter, {}, {}, {}, {}, true, {}};
  if (starts_threads(request.program.body)) {
    process.thread_stacks =
        map_memory(NativeKernel::kMostThreads * (NativeKernel::kThreadStack + FaultGuard::kStack), Sharing::own);
  }
  if (calls(request.program.body, program::Sys::userfaultfd)) {
    process.handlers.use_stacks(map_memory(UserfaultHandlers::kMost * UserfaultHandlers::kStack, Sharing::own));
  }
  NativeKernel kernel(process);
  if (const std::string note = meter.note(); !note.empty()) ledger.note(note);
  if (const std::string note = kernel.counts_note(); !note.empty()) ledger.note(note);
  // To who counts from outside, the look at the zero page is an operation of no row.
  kernel.operation_begins(0, 0);
  const bool zero_page = maps_zero_page(kernel);
  kernel.operation_ends();
  if (!zero_page) {
    ledger.note(
        "this kernel maps no shared zero page: a read maps a page of its own, and a later write does not fault");
  }
  run::Context context{request.program, plan, ledger, request.machine, request.params, nullptr, {}};
  run::Executor<NativeKernel> executor(context, kernel);
  reserve_heap(512 * 1024);
  fence_mappings();
  process.own.record(process.memory);
  process.own.touch();
  executor.run();
  _exit(0);
}

}  // namespace faultline::agent
