#include "command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace faultline::cli {
namespace {

[[noreturn]] void become(const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>("faultline")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(FAULTLINE_COMMAND, argv.data());
  _exit(127);
}

void redirect(int descriptor, const std::filesystem::path& path, int flags) {
  const int opened = open(path.c_str(), flags, 0600);
  if (opened < 0 || dup2(opened, descriptor) < 0) _exit(126);
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

pid_t start(const std::vector<std::string>& arguments, const std::filesystem::path& out,
            const std::filesystem::path& err) {
  const pid_t process = fork();
  if (process != 0) return process;
  unsetenv("NO_COLOR");
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, err, O_WRONLY | O_CREAT | O_TRUNC);
  become(arguments);
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "faultline-cli-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  root_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

std::string Folder::file(std::string_view name, std::string_view content) const {
  std::ofstream(path(name), std::ios::binary) << content;
  return path(name).string();
}

Outcome Folder::run(const std::vector<std::string>& arguments) const {
  const pid_t process = start(arguments, path(".out"), path(".err"));
  const int status = wait_for(process);
  return {status, read_file(path(".out")), read_file(path(".err"))};
}

Outcome Folder::run_on_terminal(const std::vector<std::string>& arguments, const std::string& environment) const {
  int terminal = -1;
  const pid_t process = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (process == 0) {
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    if (!environment.empty()) putenv(const_cast<char*>(environment.c_str()));
    become(arguments);
  }
  Outcome outcome;
  std::array<char, 4096> buffer{};
  // A terminal whose other end is gone reads as an error, not as an end.
  for (ssize_t got = 0; (got = read(terminal, buffer.data(), buffer.size())) > 0;) {
    outcome.out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(terminal);
  outcome.status = wait_for(process);
  return outcome;
}

Outcome Folder::interrupt(const std::vector<std::string>& arguments, unsigned milliseconds) const {
  // What an earlier run printed would be taken for a sign that this one is under way.
  std::filesystem::remove(path(".out"));
  const pid_t process = start(arguments, path(".out"), path(".err"));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < deadline && read_file(path(".out")).empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  kill(process, SIGINT);
  const int status = wait_for(process);
  return {status, read_file(path(".out")), read_file(path(".err"))};
}

}  // namespace faultline::cli
