#include "machine/agent_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "run/frame_io.h"
#include "run/message.h"

namespace faultline::machine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAgentName = "faultline-agent";

/// What the agent needs beyond the program's own time: calibration, sorting out, sending.
constexpr std::chrono::seconds kGrace{20};

struct PipeEnds {
  int read_end = -1;
  int write_end = -1;
};

std::expected<PipeEnds, std::string> open_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected("pipe: " + std::string(std::strerror(errno)));
  return PipeEnds{ends[0], ends[1]};
}

std::string describe(run::ReadFault fault) {
  switch (fault) {
    case run::ReadFault::closed:
      return "the agent ended without an answer";
    case run::ReadFault::timeout:
      return "the agent does not answer";
    case run::ReadFault::damaged:
      return "the agent's answer is damaged";
    case run::ReadFault::other_version:
      return "the agent belongs to another version of faultline";
  }
  return "the agent does not answer";
}

/// A write to an agent that is gone must be an error here, not the end of this process.
class BrokenPipeIgnored {
 public:
  BrokenPipeIgnored() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before_);
  }
  ~BrokenPipeIgnored() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    const timespec now{};
    if (sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&pipe, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BrokenPipeIgnored(const BrokenPipeIgnored&) = delete;
  BrokenPipeIgnored& operator=(const BrokenPipeIgnored&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

std::expected<fs::path, std::string> find_agent() {
  std::error_code error;
  if (const char* named = std::getenv("FAULTLINE_AGENT"); named != nullptr && *named != '\0') {
    if (fs::exists(named, error)) return fs::path(named);
    return std::unexpected("FAULTLINE_AGENT names " + std::string(named) + ", which does not exist");
  }
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<fs::path> folders{here};
  // A test or benchmark of the build tree lies some folders below the bin/ that holds the agent.
  for (fs::path above = here; above.has_relative_path(); above = above.parent_path()) folders.push_back(above / "bin");
  folders.push_back(here.parent_path() / "libexec" / "faultline");
  for (const fs::path& folder : folders) {
    fs::path agent = folder / kAgentName;
    if (access(agent.c_str(), X_OK) == 0 && fs::is_regular_file(agent, error)) return agent;
  }
  return std::unexpected(std::string(kAgentName) + " is neither in " + here.string() + " nor in " +
                         (here.parent_path() / "libexec" / "faultline").string() +
                         "; build the target faultline-agent, or name it in FAULTLINE_AGENT");
}

std::expected<AgentProcess, std::string> AgentProcess::start(const fs::path& agent) {
  const auto to = open_pipe();
  if (!to) return std::unexpected(to.error());
  const auto from = open_pipe();
  if (!from) {
    close(to->read_end);
    close(to->write_end);
    return std::unexpected(from.error());
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to->read_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from->write_end, STDOUT_FILENO);
  std::string path = agent.string();
  std::array<char*, 2> arguments{path.data(), nullptr};
  // The agent's environment is empty, so that the layout of its stack does not depend on the caller's.
  std::array<char*, 1> environment{nullptr};
  pid_t process = -1;
  const int failed = posix_spawn(&process, path.c_str(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(to->read_end);
  close(from->write_end);
  if (failed != 0) {
    close(to->write_end);
    close(from->read_end);
    return std::unexpected(path + ": " + std::strerror(failed));
  }
  return AgentProcess(process, to->write_end, from->read_end);
}

AgentProcess::AgentProcess(AgentProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      to_(std::exchange(other.to_, -1)),
      from_(std::exchange(other.from_, -1)) {}

AgentProcess::~AgentProcess() {
  if (process_ < 0) return;
  close(to_);
  close(from_);
  // What it has started dies with it: each process asked the kernel for a signal at its parent's death.
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void AgentProcess::interrupt() const { kill(process_, SIGINT); }

std::expected<std::string, std::string> AgentProcess::exchange(std::string_view request,
                                                               std::chrono::milliseconds limit) {
  const BrokenPipeIgnored ignored;
  if (!run::write_frame(to_, request)) return std::unexpected("the agent ended before it was asked");
  auto body = run::read_frame(from_, std::chrono::steady_clock::now() + limit + kGrace);
  if (!body) return std::unexpected(describe(body.error()));
  return std::move(*body);
}

std::expected<run::Report, std::string> AgentProcess::ask(std::string_view request,
                                                          std::chrono::milliseconds time_limit) {
  const auto body = exchange(request, time_limit);
  if (!body) return std::unexpected(body.error());
  std::optional<run::Report> report = run::decode_report(*body);
  if (!report) return std::unexpected(describe(run::ReadFault::damaged));
  return std::move(*report);
}

std::expected<std::vector<run::CaseRecord>, std::string> AgentProcess::play(const std::vector<run::Case>& cases,
                                                                            std::chrono::milliseconds limit) {
  const auto body = exchange(run::encode_cases(cases, static_cast<std::uint64_t>(limit.count())),
                             limit * static_cast<std::int64_t>(cases.size()));
  if (!body) return std::unexpected(body.error());
  auto records = run::decode_records(*body);
  if (!records || records->size() != cases.size()) return std::unexpected(describe(run::ReadFault::damaged));
  return std::move(*records);
}

}  // namespace faultline::machine
