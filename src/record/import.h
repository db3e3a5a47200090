#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"
#include "record/recording.h"
#include "record/sites.h"

/// Makes programs of a recording (docs/recording.md).
namespace faultline::record {

/// What a statement was made of. The line in a statement's position counts origins from 1; 0 is a statement of the
/// import's own, as those that set up the files.
struct Origin {
  SiteIndex site = kNoSite;
  bool is_call = false;
  Touch touch{};  // of an access
  Call call{};    // of a call
};

/// Text of a file that is mapped for executing.
struct Code {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // in the file, of `start`
  std::string path;
};

/// How what a process executed came to its end.
enum class ProcessEnding : std::uint8_t {
  unknown,   // it was killed, or the recording ends before
  exited,    // exit_group(2)
  executed,  // it executed something else
};

/// What a process was from its execve to the next. Forked children that executed nothing are in it.
struct RecordedProcess {
  std::string id;  // "7196"; "7196.2" after its second execve
  std::string path;
  std::string parent;  // the id of the process that forked it, if that is recorded
  Machine machine{};
  std::uint64_t calls = 0;
  std::uint64_t accesses = 0;  // recorded touches
  std::uint64_t forks = 0;
  ProcessEnding ending = ProcessEnding::unknown;
  std::uint64_t status = 0;  // of one that exited
  program::Program program;
  std::vector<std::string> notes;
};

struct Import {
  std::vector<RecordedProcess> processes;  // never empty; in the order in which they began
  std::vector<Origin> origins;
  SiteTable sites;
  std::vector<std::vector<Code>> code;  // by image, which is an index into `processes`
  std::vector<std::string> notes;       // about the whole recording
  std::optional<Native> native;         // counted without QEMU, of all processes together
};

/// What the statement was made of; nothing for the import's own.
const Origin* origin_of(const Import& recording, const program::Statement& statement);

/// Recorded results become assertions, and mappings are made at their recorded addresses. The error says where the
/// recording is damaged. Time and memory are proportional to the number of records.
std::expected<Import, std::string> import_recording(std::string_view bytes, const std::string& name);

}  // namespace faultline::record
