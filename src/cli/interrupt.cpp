#include "cli/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "cli/exit_status.h"

namespace faultline::cli {
namespace {

using namespace std::chrono_literals;

// How long a run may take to return after the signal.
constexpr auto kGrace = 1500ms;

std::atomic<bool> signal_came{false};
std::array<int, 2> wake_pipe{-1, -1};

void wake() {
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = write(wake_pipe[1], &byte, 1);
}

void handle(int) {
  const int saved = errno;
  signal_came = true;
  wake();
  errno = saved;
}

void set_handler(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt(std::function<void()> last_resort) : last_resort_(std::move(last_resort)) {
  signal_came = false;
  // Without a pipe there is no watcher, and Ctrl-C ends the program as it does any other.
  if (pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  fcntl(wake_pipe[0], F_SETFL, 0);  // the watcher waits; only the handler must not
  watcher_ = std::thread([this] { watch(); });
  set_handler(handle);
}

Interrupt::~Interrupt() {
  if (!watcher_.joinable()) return;
  set_handler(SIG_DFL);
  stand_down();
  wake();
  watcher_.join();
  for (int& end : wake_pipe) close(std::exchange(end, -1));
}

bool Interrupt::came() const { return signal_came; }

void Interrupt::stand_down() {
  const std::lock_guard lock(mutex_);
  stood_down_ = true;
  stood_down_changed_.notify_all();
}

void Interrupt::watch() {
  char byte = 0;
  while (read(wake_pipe[0], &byte, 1) < 0 && errno == EINTR) {
  }
  if (signal_came) stop_.request_stop();
  std::unique_lock lock(mutex_);
  if (stood_down_changed_.wait_for(lock, kGrace, [this] { return stood_down_; })) return;
  // The lock stays held, so that the main thread does not print at the same time. Its stack is in use: no destructors.
  last_resort_();
  std::_Exit(static_cast<int>(ExitStatus::interrupted));
}

}  // namespace faultline::cli
