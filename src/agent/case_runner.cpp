#include "agent/case_runner.h"

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "agent/native_kernel.h"
#include "agent/own_memory.h"
#include "run/play.h"

namespace faultline::agent {
namespace {

/// What all cases share: made once, so that a case costs its own fork and nothing else.
class Stage {
 public:
  explicit Stage(std::size_t most_steps)
      : record_memory_(map_memory(std::max<std::size_t>(most_steps, 1) * sizeof(run::StepRecord), Sharing::shared)),
        process_{nullptr, Meter::none(), {}, {}, {}, {}, true, {}} {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    // A model's process has no privilege and no limits; here the limits go first, which takes the privilege.
    const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_MEMLOCK, &unlimited);
    FaultGuard::install_handlers();
    process_.own.record(process_.memory);
  }
  ~Stage() { munmap(record_memory_.data(), record_memory_.size()); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  ProcessState& process() { return process_; }
  run::StepRecord* records() { return reinterpret_cast<run::StepRecord*>(record_memory_.data()); }

 private:
  std::span<std::byte> record_memory_;
  ProcessState process_;
};

/// capset(2), which the C library does not wrap. False when it was refused.
bool drop_privileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

[[noreturn]] void be_case(Stage& stage, const run::Case& played) {
  ProcessState& process = stage.process();
  if (!drop_privileges()) _exit(1);
  process.memory.reopen();
  process.own.touch_near();
  {
    NativeKernel kernel(process);
    run::StepRecord* const records = stage.records();
    const auto sink = [records](NativeKernel&, std::size_t index, const run::StepRecord& record) {
      records[index] = record;
    };
    run::CasePlayer<NativeKernel, decltype(sink)>(played, sink).play(kernel);
  }
  _exit(0);
}

volatile sig_atomic_t current = 0;

void kill_current(int) {
  if (current > 0) kill(-current, SIGKILL);
}

/// The alarm ends the case and nothing else: waiting for it goes on.
void set_alarm(std::uint64_t milliseconds) {
  itimerval timer{};
  timer.it_value = {static_cast<time_t>(milliseconds / 1000), static_cast<suseconds_t>(milliseconds % 1000 * 1000)};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void play(Stage& stage, const run::Case& played, std::uint64_t time_limit_ms) {
  const int parent = getpid();
  const int process = fork();
  if (process < 0) return;
  if (process == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    be_case(stage, played);
  }
  setpgid(process, process);
  current = process;
  set_alarm(time_limit_ms);
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  set_alarm(0);
  current = 0;
  // The group exists as long as the process is not reaped, so this ends whatever it left.
  kill(-process, SIGKILL);
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

std::string play_cases(const run::CasesRequest& request) {
  std::size_t most_steps = 0;
  for (const run::Case& one : request.cases) most_steps = std::max(most_steps, one.steps.size());
  Stage stage(most_steps);
  std::signal(SIGALRM, kill_current);
  std::vector<run::CaseRecord> records;
  records.reserve(request.cases.size());
  for (const run::Case& one : request.cases) {
    std::fill_n(stage.records(), one.steps.size(), run::StepRecord{});
    play(stage, one, request.time_limit_ms);
    records.emplace_back(stage.records(), stage.records() + one.steps.size());
  }
  return run::encode_records(records);
}

}  // namespace faultline::agent
