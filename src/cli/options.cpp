#include "cli/options.h"

namespace faultline::cli {
namespace {

// The longest that a chrono duration in milliseconds is asked to hold: about a year.
constexpr double kLongestLimit = 3e7;

}  // namespace

void add_set(CLI::App& command, std::vector<std::string>& set, const std::string& help) {
  command.add_option("--set", set, help)->type_name("NAME=VALUE[,VALUE…]")->allow_extra_args(false);
}

void add_on(CLI::App& command, std::vector<std::string>& on, const std::string& help) {
  command.add_option("--on", on, help)->type_name("MACHINE")->allow_extra_args(false);
}

void add_from(CLI::App& command, Language& language) {
  const auto set = [&language](const std::string& name) {
    language = name == "strace" ? Language::strace : name == "recording" ? Language::recording : Language::faultline;
  };
  command.add_option_function<std::string>("--from", set, "Read PROGRAM as this, whatever it looks like")
      ->type_name("fl|strace|recording")
      ->check(CLI::IsMember({"fl", "strace", "recording"}).description(""));
}

void add_time_limit(CLI::App& command, double& seconds) {
  command.add_option("--time-limit", seconds, "Stop a machine's run after this long (default 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, kLongestLimit));
}

}  // namespace faultline::cli
