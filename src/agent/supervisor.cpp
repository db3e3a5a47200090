#include "agent/supervisor.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "agent/own_memory.h"
#include "agent/runner.h"
#include "run/ledger.h"

namespace faultline::agent {
namespace {

using namespace std::chrono;

enum class Waited : std::uint8_t { ended, timeout, interrupted };

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

/// Waits until the process has ended, without reaping it, or until an interrupt has come.
Waited wait_until_ended(int process, milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  const int file = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  const sigset_t awaited = interrupts();
  const int signals = signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
  Waited waited = Waited::timeout;
  while (waited == Waited::timeout) {
    const auto left = duration_cast<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) break;
    if (file >= 0) {
      // A descriptor of -1 is passed over.
      std::array<pollfd, 2> ready{{{file, POLLIN, 0}, {signals, POLLIN, 0}}};
      if (poll(ready.data(), ready.size(), static_cast<int>(std::min<std::int64_t>(left.count() + 1, 1 << 30))) > 0) {
        waited = ready[0].revents != 0 ? Waited::ended : Waited::interrupted;
      }
    } else if (signalfd_siginfo signal{}; read(signals, &signal, sizeof signal) > 0) {
      waited = Waited::interrupted;
    } else {
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        waited = Waited::ended;
      } else {
        std::this_thread::sleep_for(1ms);
      }
    }
  }
  if (file >= 0) close(file);
  if (signals >= 0) close(signals);
  return waited;
}

std::string kernel_text() {
  utsname name{};
  uname(&name);
  const std::string machine = name.machine;
  const std::string arch = machine == "x86_64" ? "x86-64" : machine == "aarch64" ? "arm64" : machine;
  return std::string(name.sysname) + " " + name.release + " (" + arch + ")";
}

run::Report broken(std::string detail) {
  run::Report report;
  report.ending = run::Ending::failed;
  report.detail = std::move(detail);
  return report;
}

/// The runner itself records how it ended; what it could not is read from its exit status.
void record_ending(run::Ledger& ledger, Waited waited, int status, std::uint64_t limit_ms) {
  const program::Position position = ledger.position();
  if (waited == Waited::interrupted) {
    ledger.end(run::Ending::interrupted, position, "");
  } else if (waited == Waited::timeout) {
    ledger.end(run::Ending::timeout, position, "the time limit of " + std::to_string(limit_ms) + " ms passed");
  } else if (WIFSIGNALED(status)) {
    ledger.end(run::Ending::signal, position, "", Signal{WTERMSIG(status), 0, {}});
  } else {
    ledger.end(run::Ending::failed, position, "the process exited before the program's end");
  }
}

}  // namespace

run::Report supervise(const run::Request& request, const Meter& meter) {
  const run::Plan plan = run::make_plan(request.program);
  const std::span<std::byte> memory = map_memory(run::Ledger::bytes(plan), Sharing::shared);
  if (memory.empty()) return broken("no memory for the results: " + std::string(std::strerror(errno)));
  run::Ledger ledger(plan, memory);

  // More than the program's process will need. Kernels keep what a heap grows by after a fork apart from what is shared
  // since, and whether it had to grow there would depend on how long the program is.
  reserve_heap(1 << 20);

  // Kept until somebody waits for them: an interrupt ends the program, not what it has found.
  const sigset_t held_back = interrupts();
  sigprocmask(SIG_BLOCK, &held_back, nullptr);

  const int supervisor = getpid();
  const int process = fork();
  if (process == 0) {
    sigprocmask(SIG_UNBLOCK, &held_back, nullptr);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) _exit(1);
    run_program(request, plan, meter, memory);
  }
  if (process < 0) {
    munmap(memory.data(), memory.size());
    return broken("fork: " + std::string(std::strerror(errno)));
  }
  setpgid(process, process);

  const Waited waited = wait_until_ended(process, milliseconds(request.time_limit_ms));
  // The group exists as long as the runner is not reaped, so this ends whatever it started.
  kill(-process, SIGKILL);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  record_ending(ledger, waited, status, request.time_limit_ms);
  run::Report report = ledger.report(plan);
  report.kernel = kernel_text();
  munmap(memory.data(), memory.size());
  return report;
}

}  // namespace faultline::agent
