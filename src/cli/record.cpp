// faultline record -- COMMAND…
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/signal.h"
#include "cli/commands.h"
#include "cli/default_machines.h"
#include "cli/report.h"
#include "machine/vm/subprocess.h"
#include "record/recorder.h"

namespace faultline::cli {
namespace {

constexpr const char* kRecordFooter =
    R"(The command runs under QEMU's user mode (package qemu-user), some times slower than by itself. x86-64 and arm64 programs,
static or not, with threads, forks and what they execute. Its memory calls are recorded, and of each page the first load, store,
atomic and fetch after each of them. What a program that was killed did until then is there.
Exit status: 0 when the recording is complete, whatever the command's own is.

Examples:
  faultline record -o ls.rec -- ls -l
  faultline run ls.rec --on model:5.10 --on model:6.18 --on live
  faultline report ls.rec --on model:5.10)";

struct RecordOptions {
  std::string output;
  std::vector<std::string> command;
  record::RecordingOptions how;
  ReportOutput summary;
};

std::string how_it_ended(int status) {
  constexpr int kKilled = 128;
  if (status > kKilled) return fmt::format("was killed by {}", signal_name(status - kKilled));
  return fmt::format("ended with status {}", status);
}

std::string default_name(const std::string& command) { return command.substr(command.rfind('/') + 1) + ".rec"; }

ExitStatus run(const RecordOptions& options) {
  const auto profile = model_profile(options.summary.model);
  if (!profile) return complain(profile.error());
  const std::string path = options.output.empty() ? default_name(options.command.front()) : options.output;
  if (const auto able = record::can_record(options.command.front()); !able) return complain(able.error());
  const machine::vm::Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.is_open()) return complain(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  const auto recorded = record::record_command(options.command, file.get(), options.how);
  if (!recorded) return complain(fmt::format("{}: {}", path, recorded.error()));
  fmt::print(stderr, "faultline: {} {}; {} holds {} bytes\n", options.command.front(), how_it_ended(recorded->status),
             path, recorded->bytes);
  const auto recording = load_recording_file(path);
  if (!recording) {
    fmt::print(stderr, "{}", recording.error());
    return ExitStatus::misuse;
  }
  return print_summary(*recording, *profile, options.summary);
}

}  // namespace

void add_record(CLI::App& app, ExitStatus& status) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App& command = *app.add_subcommand("record", "Record what a program does with its memory");
  command.add_option("-o,--output", options->output, "The recording; without it COMMAND.rec")->type_name("FILE");
  command.add_flag_callback(
      "--native", [options] { options->how.natively = record::Natively::yes; },
      "Run the command a second time without QEMU, input and output, and keep the kernel's own count of its faults");
  command
      .add_option("--again", options->how.again,
                  "Record each page's first touches again after so many system calls, for `report --what dirty`")
      ->type_name("CALLS")
      ->check(CLI::PositiveNumber.description(""));
  add_report_output(command, options->summary);
  command.add_option("COMMAND", options->command, "The program and its arguments, after --")->required();
  command.footer(kRecordFooter);
  command.callback([options, &status] { status = run(*options); });
}

}  // namespace faultline::cli
