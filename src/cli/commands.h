#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "cli/exit_status.h"

/// `faultline`: its subcommands, one file each. A command registers itself with the parser; when it is named on the
/// command line it runs and leaves its exit status.
namespace faultline::cli {

void add_run(CLI::App& app, ExitStatus& status);
void add_explain(CLI::App& app, ExitStatus& status);
void add_compare(CLI::App& app, ExitStatus& status);
void add_calibrate(CLI::App& app, ExitStatus& status);
void add_check(CLI::App& app, ExitStatus& status);
void add_machines(CLI::App& app, ExitStatus& status);
void add_format(CLI::App& app, ExitStatus& status);
void add_kernel(CLI::App& app, ExitStatus& status);
void add_record(CLI::App& app, ExitStatus& status);
void add_report(CLI::App& app, ExitStatus& status);
void add_export(CLI::App& app, ExitStatus& status);

/// The whole program: parses the command line, runs the command. Returns what main() does.
int faultline_main(int argc, char** argv);

/// The command line as typed, for JSON; set by faultline_main().
const std::string& command_line();

/// "0.1.0".
std::string version();

/// Prints "faultline: MESSAGE" on stderr.
ExitStatus complain(std::string_view message);

}  // namespace faultline::cli
