#pragma once

#include <expected>
#include <string>

#include "program/program.h"
#include "run/row.h"

namespace faultline::cli {

/// A program with the text that it was read from, which messages show lines of.
struct Source {
  std::string path;
  std::string text;
  program::Program program;
};

/// Reads and parses a program; "-" is standard input. The error is ready to print: why the file cannot be read, or the
/// place in it that is wrong, with its line and a caret.
std::expected<Source, std::string> load(const std::string& path);

/// Why a run ended that should not have, with the program's line and a caret where the place is known.
std::string ending_message(const Source& source, const run::Report& report);

}  // namespace faultline::cli
