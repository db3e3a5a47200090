#include "cli/commands.h"

#include <fmt/format.h>

#include <cstdio>

namespace faultline::cli {
namespace {

std::string typed;

constexpr const char* kAbout =
    "Faultline: what a sequence of memory operations does, and what it costs, on this kernel, on that kernel, and "
    "under "
    "a policy that no kernel has yet.";

constexpr const char* kExamples = R"(Examples:
  faultline run programs/mprotect-cycle.fl
  faultline run programs/mprotect-cycle.fl --on model:5.10 --on model:6.12 --on live
  faultline run programs/mprotect-cycle.fl --on live --set pages=1,8,64 --json cycle.json
  faultline compare before.json after.json
  faultline explain programs/atomic-populate.fl --on model:arm64/6.8 --step 4
  faultline record -o ls.rec -- ls; faultline run ls.rec --on model:5.10 --on model:6.18
  faultline machines

Exit status: 0 all expectations held; 1 one did not, or the program was killed or ran out of time;
2 the program, the command line or a machine cannot be used; 130 interrupted.)";

std::string join(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) text += (i > 0 ? " " : "") + std::string(argv[i]);
  return text;
}

// Help and version are asked for on purpose; every other end of parsing is misuse, whatever number CLI11 gives it.
int finish_parsing(const CLI::App& app, const CLI::ParseError& error) {
  return app.exit(error) == 0 ? 0 : static_cast<int>(ExitStatus::misuse);
}

}  // namespace

const std::string& command_line() { return typed; }

std::string version() { return FAULTLINE_VERSION; }

ExitStatus complain(std::string_view message) {
  fmt::print(stderr, "faultline: {}\n", message);
  return ExitStatus::misuse;
}

int faultline_main(int argc, char** argv) {
  typed = join(argc, argv);
  ExitStatus status = ExitStatus::ok;
  CLI::App app(kAbout, "faultline");
  app.set_version_flag("--version", "faultline " + version());
  app.require_subcommand(1);
  app.footer(kExamples);
  add_run(app, status);
  add_explain(app, status);
  add_compare(app, status);
  add_check(app, status);
  add_calibrate(app, status);
  add_machines(app, status);
  add_format(app, status);
  add_kernel(app, status);
  add_record(app, status);
  add_report(app, status);
  add_export(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return finish_parsing(app, error);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) status = complain("cannot write standard output");
  return static_cast<int>(status);
}

}  // namespace faultline::cli
