#pragma once

#include <sys/types.h>

#include <chrono>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "run/case.h"
#include "run/row.h"

namespace faultline::machine {

/// Where the agent is: $FAULTLINE_AGENT, else beside this executable, in bin/ beside its folder, or in
/// ../libexec/faultline/. The error says where it was looked for and how to get it.
std::expected<std::filesystem::path, std::string> find_agent();

/// A running agent, over a pair of pipes. Ends with this object.
class AgentProcess {
 public:
  static std::expected<AgentProcess, std::string> start(const std::filesystem::path& agent);
  AgentProcess(AgentProcess&& other) noexcept;
  AgentProcess& operator=(AgentProcess&&) = delete;
  ~AgentProcess();

  /// Sends an encoded request and waits for its report, for the request's time limit and some grace.
  std::expected<run::Report, std::string> ask(std::string_view request, std::chrono::milliseconds time_limit);

  /// Sends the cases and waits for their records; the limit is of each case.
  std::expected<std::vector<run::CaseRecord>, std::string> play(const std::vector<run::Case>& cases,
                                                                std::chrono::milliseconds limit);

  /// Asks the agent to end the program that it runs and to report what was done until then. Thread-safe.
  void interrupt() const;

 private:
  std::expected<std::string, std::string> exchange(std::string_view request, std::chrono::milliseconds limit);

  AgentProcess(pid_t process, int to, int from) : process_(process), to_(to), from_(from) {}

  pid_t process_ = -1;
  int to_ = -1;
  int from_ = -1;
};

}  // namespace faultline::machine
