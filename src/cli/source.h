#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "program/program.h"
#include "record/import.h"
#include "run/row.h"

namespace faultline::cli {

/// A program with the text that it was read from, which messages show lines of.
struct Source {
  std::string path;
  std::string text;
  program::Program program;
  std::vector<std::string> notes;  // of a log or a recording: what an import cannot keep
};

/// What a program file is written in.
enum class Language : std::uint8_t {
  by_content,  // whichever it looks like; a name that ends in .fl says it
  faultline,   // docs/language.md
  strace,      // docs/strace.md
  recording,   // docs/recording.md
};

/// Reads and parses a program, or imports a log of strace or a recording; "-" is standard input. LOG:PID is one process
/// of these, else it is the first. The error is ready to print: why the file cannot be read, or the place in it that is
/// wrong, with its line and a caret.
std::expected<Source, std::string> load(const std::string& path, Language language = Language::by_content);

/// Which process of a recording `id` names: the first when it is empty. The error names those that there are.
std::expected<std::size_t, std::string> chosen_process(const record::Import& recording, const std::string& id);

struct RecordingFile {
  record::Import recording;
  std::size_t process = 0;  // that FILE:PID chose, or the first
  std::uint64_t bytes = 0;
};
/// The error is ready to print.
std::expected<RecordingFile, std::string> load_recording_file(const std::string& path);

/// Prints the notes on stderr, a line each.
void print_notes(const Source& source);

/// Why a run ended that should not have, with the program's line and a caret where the place is known.
std::string ending_message(const Source& source, const run::Report& report);

}  // namespace faultline::cli
