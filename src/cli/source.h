#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "program/program.h"
#include "run/row.h"

namespace faultline::cli {

/// A program with the text that it was read from, which messages show lines of.
struct Source {
  std::string path;
  std::string text;
  program::Program program;
  std::vector<std::string> notes;  // of a log: what an import cannot keep
};

/// What a program file is written in.
enum class Language : std::uint8_t {
  by_content,  // whichever it looks like
  faultline,   // docs/language.md
  strace,      // docs/strace.md
};

/// Reads and parses a program, or imports a log of strace; "-" is standard input. LOG:PID is one process of a log, else
/// it is the first. The error is ready to print: why the file cannot be read, or the place in it that is wrong, with
/// its line and a caret.
std::expected<Source, std::string> load(const std::string& path, Language language = Language::by_content);

/// Prints the notes on stderr, a line each.
void print_notes(const Source& source);

/// Why a run ended that should not have, with the program's line and a caret where the place is known.
std::string ending_message(const Source& source, const run::Report& report);

}  // namespace faultline::cli
