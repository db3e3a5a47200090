#include "machine/vm/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace faultline::machine::vm {
namespace {

/// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(const std::string& path, char* const* arguments, const std::vector<Passed>& passed,
                         const std::string& folder, int told, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  // A group of its own: Ctrl-C is the parent's to handle.
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR);
  for (int standard = 0; standard <= STDERR_FILENO; ++standard) {
    const bool taken = std::ranges::any_of(passed, [&](const Passed& p) { return p.as == standard; });
    if (!taken) dup2(null, standard);
  }
  // Out of each other's way first: a number may be what another becomes.
  std::array<int, kMostPassed> moved{};
  for (std::size_t i = 0; i < std::min(passed.size(), moved.size()); ++i) {
    moved[i] = fcntl(passed[i].number, F_DUPFD_CLOEXEC, 64);
  }
  for (std::size_t i = 0; i < std::min(passed.size(), moved.size()); ++i) dup2(moved[i], passed[i].as);
  if (folder.empty() || chdir(folder.c_str()) == 0) execv(path.c_str(), arguments);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(told, &error, sizeof error);
  _exit(127);
}

int exit_status(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/// Reads what there is; false at the end.
bool take(int file, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t got = read(file, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

void tell_lines(std::string& text, const std::function<void(std::string_view)>& line) {
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
    if (line) line(std::string_view(text).substr(0, end));
    text.erase(0, end + 1);
  }
}

}  // namespace

std::unexpected<std::string> system_error(std::string_view what) {
  return std::unexpected(std::string(what) + ": " + std::strerror(errno));
}

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) reset(std::exchange(other.number_, -1));
  return *this;
}

void Descriptor::reset(int number) {
  if (number_ >= 0) close(number_);
  number_ = number;
}

std::expected<PipeEnds, std::string> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("pipe");
  return PipeEnds{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::string find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + std::string(name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

std::expected<pid_t, std::string> spawn(const std::vector<std::string>& command, const std::vector<Passed>& passed,
                                        const std::string& folder) {
  const std::string path = command.front().contains('/') ? command.front() : find_program(command.front());
  if (path.empty()) return std::unexpected(command.front() + " is not installed");
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  auto told = make_pipe();
  if (!told) return std::unexpected(told.error());
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) return system_error("fork");
  if (process == 0) become(path, arguments.data(), passed, folder, told->write_end.get(), parent);
  told->write_end.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(told->read_end.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof error) return process;
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return std::unexpected(path + ": " + std::strerror(error));
}

std::expected<Finished, std::string> run_command(const std::vector<std::string>& command,
                                                 const std::function<void(std::string_view)>& line,
                                                 const std::string& folder) {
  std::array<PipeEnds, 3> pipes;
  for (PipeEnds& pipe : pipes) {
    auto made = make_pipe();
    if (!made) return std::unexpected(made.error());
    pipe = std::move(*made);
  }
  const auto process = spawn(command,
                             {{pipes[0].write_end.get(), STDOUT_FILENO},
                              {pipes[1].write_end.get(), STDERR_FILENO},
                              {pipes[2].write_end.get(), 3}},
                             folder);
  for (PipeEnds& pipe : pipes) pipe.write_end.reset();
  if (!process) return std::unexpected(process.error());
  Finished finished;
  std::string told;
  std::array<std::string*, 3> texts{&finished.output, &finished.errors, &told};
  while (std::ranges::any_of(pipes, [](const PipeEnds& p) { return p.read_end.is_open(); })) {
    std::array<pollfd, 3> waiting{};
    for (std::size_t i = 0; i < pipes.size(); ++i) waiting[i] = {pipes[i].read_end.get(), POLLIN, 0};
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      if (waiting[i].revents != 0 && !take(pipes[i].read_end.get(), *texts[i])) pipes[i].read_end.reset();
    }
    tell_lines(told, line);
  }
  int status = 0;
  while (waitpid(*process, &status, 0) < 0 && errno == EINTR) {
  }
  finished.status = exit_status(status);
  return finished;
}

}  // namespace faultline::machine::vm
