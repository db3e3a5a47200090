#include "machine/live.h"

#include <sys/utsname.h>

#include <algorithm>

#include "machine/agent_process.h"
#include "run/message.h"
#include "run/params.h"

namespace faultline::machine {
namespace {

/// The longest limit is one that a clock can be set to without overflow.
constexpr std::chrono::milliseconds kShortestLimit{0};
constexpr std::chrono::milliseconds kLongestLimit = std::chrono::years(30);
/// A case takes a millisecond, near the limit of mappings some hundred; or it hangs, or nobody gives it a processor.
constexpr std::chrono::milliseconds kCaseLimit{60000};

class Live final : public Machine {
 public:
  Live() {
    utsname name{};
    uname(&name);
    const std::string machine = name.machine;
    id_.kind = "live";
    id_.arch = machine == "x86_64" ? "x86-64" : machine == "aarch64" ? "arm64" : machine;
    const std::string release = name.release;
    id_.version = release.substr(0, release.find_first_not_of("0123456789."));
    kernel_ = std::string(name.sysname) + " " + release + " (" + id_.arch + ")";
  }

  const program::MachineId& id() const override { return id_; }
  std::string name() const override { return "live"; }
  std::string kernel() const override { return kernel_; }

  run::Report run(const program::Program& program, const Settings& settings) override {
    run::Report report = ask(program, settings);
    report.machine = name();
    report.kernel = kernel_;
    return report;
  }

  std::expected<std::vector<run::CaseRecord>, std::string> play(const std::vector<run::Case>& cases) override {
    if (!player_) {
      const auto path = find_agent();
      if (!path) return std::unexpected(path.error());
      auto agent = AgentProcess::start(*path);
      if (!agent) return std::unexpected(agent.error());
      player_.emplace(std::move(*agent));
    }
    auto records = player_->play(cases, kCaseLimit);
    if (!records) player_.reset();
    return records;
  }

 private:
  run::Report ask(const program::Program& program, const Settings& settings) const {
    if (const auto unknown = run::unknown_param(program, settings.params)) {
      return ended(run::Ending::misuse, "the program has no param " + *unknown);
    }
    const auto path = find_agent();
    if (!path) return ended(run::Ending::failed, path.error());
    auto agent = AgentProcess::start(*path);
    if (!agent) return ended(run::Ending::failed, agent.error());
    const std::stop_callback interrupt(settings.stop, [&agent] { agent->interrupt(); });
    const std::chrono::milliseconds limit = std::clamp(settings.time_limit, kShortestLimit, kLongestLimit);
    auto report = agent->ask(
        run::encode_request(id_, program, settings.params, static_cast<std::uint64_t>(limit.count())), limit);
    if (!report) return ended(run::Ending::failed, report.error());
    return std::move(*report);
  }

  static run::Report ended(run::Ending ending, std::string detail) {
    run::Report report;
    report.ending = ending;
    report.detail = std::move(detail);
    return report;
  }

  program::MachineId id_;
  std::string kernel_;
  std::optional<AgentProcess> player_;  // kept from call to call
};

}  // namespace

std::unique_ptr<Machine> make_live() { return std::make_unique<Live>(); }

}  // namespace faultline::machine
