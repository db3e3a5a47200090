#include "record/native.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <spawn.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "machine/vm/subprocess.h"

namespace faultline::record {
namespace {

using machine::vm::Descriptor;

/// perf's software counter of page faults, of whatever this thread starts, from its execve on. QEMU's are not counted.
class PageFaults {
 public:
  PageFaults() {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
    attributes.disabled = 1;
    attributes.inherit = 1;
    attributes.enable_on_exec = 1;
    counter_ = open_counter(attributes);
    kind_ = PerfCount::all;
    if (!counter_.is_open()) {
      // vm.perf_event_paranoid may permit what does not look into the kernel.
      attributes.exclude_kernel = 1;
      counter_ = open_counter(attributes);
      kind_ = PerfCount::of_user_mode;
    }
    if (!counter_.is_open()) kind_ = PerfCount::none;
  }

  /// Fills in what was counted, once what was started has ended.
  void read_into(Native& native) const {
    std::uint64_t count = 0;
    if (kind_ == PerfCount::none || read(counter_.get(), &count, sizeof count) != sizeof count) return;
    native.perf = kind_;
    native.page_faults = count;
  }

 private:
  static Descriptor open_counter(perf_event_attr& attributes) {
    constexpr int kThisThread = 0;
    constexpr int kAnyProcessor = -1;
    constexpr int kNoGroup = -1;
    return Descriptor(static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, kThisThread, kAnyProcessor, kNoGroup, PERF_FLAG_FD_CLOEXEC)));
  }

  Descriptor counter_;
  PerfCount kind_ = PerfCount::none;
};

/// Addresses are not randomized for what is executed while this lives.
class FixedAddresses {
 public:
  FixedAddresses() { personality(static_cast<unsigned long>(before_) | ADDR_NO_RANDOMIZE); }
  ~FixedAddresses() { personality(static_cast<unsigned long>(before_)); }
  FixedAddresses(const FixedAddresses&) = delete;
  FixedAddresses& operator=(const FixedAddresses&) = delete;

 private:
  static constexpr unsigned long kAsk = 0xffffffff;
  int before_ = personality(kAsk);
};

/// Starts it with nothing to read and nowhere to write, as to the terminal's signals like any command: recording
/// ignores these, as QEMU gets them too. Not by fork, whose copies would count as the command's. 0, or an errno.
int start(pid_t& child, const std::vector<std::string>& command, int nothing) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_adddup2(&files, nothing, standard);
  }
  sigset_t of_terminal;
  sigemptyset(&of_terminal);
  sigaddset(&of_terminal, SIGINT);
  sigaddset(&of_terminal, SIGQUIT);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &of_terminal);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const FixedAddresses fixed;
  const int error = posix_spawn(&child, words[0], &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

std::expected<Native, std::string> run_natively(const std::vector<std::string>& command) {
  const Descriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing.is_open()) return std::unexpected("/dev/null: " + std::string(std::strerror(errno)));
  const PageFaults page_faults;
  pid_t child = 0;
  if (const int error = start(child, command, nothing.get()); error != 0) {
    return std::unexpected(command.front() + ": cannot run without QEMU: " + std::strerror(error));
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) {
    return std::unexpected(command.front() + ": " + std::strerror(errno));
  }
  Native native;
  native.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
  native.major_faults = static_cast<std::uint64_t>(usage.ru_majflt);
  page_faults.read_into(native);
  return native;
}

}  // namespace faultline::record
