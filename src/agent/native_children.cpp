// How NativeKernel forks.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "agent/descriptor.h"
#include "agent/native_kernel.h"

namespace faultline::agent {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = out_of_the_way(ends[0]);
    write_end = out_of_the_way(ends[1]);
    return true;
  }
};

bool read_byte(int file) {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(file, &byte, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

int wait_for(int process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

void NativeKernel::be_child(const std::function<void(NativeKernel&)>& body, int ready, int leave) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The children of the parent are no children of this process.
  child_count_ = 0;
  counts_.reopen();
  process_.memory.reopen();
  process_.clear_refs.close();
  process_.handlers.forget();
  process_.own.touch_near();
  process_.settled = false;
  body(*this);
  if (leave >= 0) {
    const char byte = 1;
    if (write(ready, &byte, 1) == 1) read_byte(leave);
  }
  _exit(0);
}

/// A child that was killed from outside, or broke: the program has lost a process.
void NativeKernel::note_death(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (process_.ledger == nullptr) return;
  const program::Position position = process_.ledger->position();
  if (WIFSIGNALED(status)) {
    process_.ledger->end(run::Ending::signal, position, "a child process was killed", Signal{WTERMSIG(status), 0, {}});
  } else {
    process_.ledger->end(run::Ending::failed, position, "a child process exited by itself");
  }
}

run::KernelFailure NativeKernel::child(std::string_view name, const std::function<void(NativeKernel&)>& body) {
  const bool stays = !name.empty();
  Pipe ready;
  Pipe leave;
  if (stays) {
    if (child_count_ == children_.size()) return "too many living children, expected at most 64";
    if (!ready.open() || !leave.open()) return "pipe: " + std::string(std::strerror(errno));
  }
  const int process = fork();
  if (process < 0) return "fork: " + std::string(std::strerror(errno));
  if (process == 0) {
    if (stays) {
      close(ready.read_end);
      close(leave.write_end);
    }
    be_child(body, ready.write_end, leave.read_end);
  }
  if (stays) {
    close(ready.write_end);
    close(leave.read_end);
    // Without the byte the child has died: the read ends because the write end is closed with it.
    const bool lives = read_byte(ready.read_end);
    close(ready.read_end);
    if (lives) {
      children_[child_count_++] = {name, process, leave.write_end};
    } else {
      close(leave.write_end);
      note_death(wait_for(process));
    }
  } else {
    note_death(wait_for(process));
  }
  process_.own.touch_near();
  process_.settled = false;
  return std::nullopt;
}

bool NativeKernel::exit_child(std::string_view name) {
  for (std::size_t i = child_count_; i-- > 0;) {
    LivingChild& child = children_[i];
    if (child.name != name) continue;
    const char byte = 1;
    if (write(child.leave, &byte, 1) != 1) kill(child.process, SIGKILL);
    close(child.leave);
    note_death(wait_for(child.process));
    for (; i + 1 < child_count_; ++i) children_[i] = children_[i + 1];
    --child_count_;
    return true;
  }
  return false;
}

}  // namespace faultline::agent
