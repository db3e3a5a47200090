// faultline format PROGRAM
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/source.h"
#include "program/printer.h"

namespace faultline::cli {
namespace {

ExitStatus format(const std::string& path) {
  const auto source = load(path);
  if (!source) {
    fmt::print(stderr, "{}", source.error());
    return ExitStatus::misuse;
  }
  const std::string text = program::print(source->program);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return ExitStatus::ok;
}

}  // namespace

void add_format(CLI::App& app, ExitStatus& status) {
  auto path = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("format", "Check a program and print it in its canonical form");
  command.add_option("PROGRAM", *path, "The program; - is standard input")->required();
  command.footer(
      "Comments are lost, but for the first line.\n\nExample:\n  faultline format programs/mprotect-cycle.fl");
  command.callback([path, &status] { status = format(*path); });
}

}  // namespace faultline::cli
