// faultline format PROGRAM
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/source.h"
#include "program/printer.h"

namespace faultline::cli {
namespace {

ExitStatus format(const std::string& path, Language from) {
  const auto source = load(path, from);
  if (!source) {
    fmt::print(stderr, "{}", source.error());
    return ExitStatus::misuse;
  }
  print_notes(*source);
  const std::string text = program::print(source->program);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return ExitStatus::ok;
}

}  // namespace

void add_format(CLI::App& app, ExitStatus& status) {
  auto path = std::make_shared<std::string>();
  auto from = std::make_shared<Language>(Language::by_content);
  CLI::App& command =
      *app.add_subcommand("format", "Check a program, or import a strace log, and print it in its canonical form");
  command.add_option("PROGRAM", *path, "The program, or strace log; - is standard input")->required();
  add_from(command, *from);
  command.footer(
      "Comments are lost, but for the first line.\n\nExample:\n  faultline format programs/mprotect-cycle.fl");
  command.callback([path, from, &status] { status = format(*path, *from); });
}

}  // namespace faultline::cli
