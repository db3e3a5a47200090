#include "cli/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "program/parser.h"
#include "program/printer.h"
#include "program/strace.h"
#include "record/import.h"
#include "report/footnotes.h"

namespace faultline::cli {
namespace {

// No program is this long; an image or a device that never ends is.
constexpr std::size_t kLongestProgram = std::size_t{1} << 30;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ > STDERR_FILENO) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

std::unexpected<std::string> cannot_read(const std::string& path, std::string_view why) {
  return std::unexpected(fmt::format("faultline: cannot read {}: {}\n", path, why));
}

std::expected<std::string, std::string> read_all(const std::string& path) {
  const File file(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.descriptor() < 0) return cannot_read(path, std::strerror(errno));
  struct stat status{};
  if (fstat(file.descriptor(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return cannot_read(path, "it is a directory; expected a program");
  }
  std::string text;
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const ssize_t got = read(file.descriptor(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(path, std::strerror(errno));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kLongestProgram) return cannot_read(path, "longer than 1 GiB; expected a program");
  }
}

/// LOG:PID taken apart: the process is empty where none is named.
struct LogName {
  std::string path;
  std::string process;
};

LogName log_name(const std::string& path) {
  const std::size_t colon = path.rfind(':');
  const bool named = colon != std::string::npos && colon + 1 < path.size() &&
                     path.find_first_not_of("0123456789.", colon + 1) == std::string::npos;
  if (!named || access(path.c_str(), F_OK) == 0) return {path, ""};
  return {path.substr(0, colon), path.substr(colon + 1)};
}

std::expected<Source, std::string> load_log(const std::string& path, const LogName& name, std::string text) {
  auto log = program::import_strace(text, name.path);
  if (!log) return std::unexpected(program::render(log.error()));
  std::size_t chosen = 0;
  if (!name.process.empty()) {
    const auto found = std::ranges::find(log->processes, name.process, &program::StraceProcess::id);
    if (found == log->processes.end()) {
      const std::string others = log->others(program::StraceImport::kNone);
      return std::unexpected(fmt::format("faultline: {}: no process {}: {}\n", name.path, name.process, others));
    }
    chosen = static_cast<std::size_t>(found - log->processes.begin());
  }
  std::vector<std::string> notes = std::move(log->processes[chosen].notes);
  std::ranges::move(log->notes, std::back_inserter(notes));
  if (const std::string others = log->others(chosen); !others.empty()) {
    notes.push_back(others + fmt::format("; {}:PID chooses one", name.path));
  }
  return Source{path, std::move(text), std::move(log->processes[chosen].program), std::move(notes)};
}

std::string describe(const record::RecordedProcess& process) {
  return fmt::format("{} ({}, {} calls)", process.id, process.path.substr(process.path.rfind('/') + 1), process.calls);
}

/// "the recording holds 2 more processes: 7178 (cc1, 63 calls), …"; empty when there is no other.
std::string other_processes(const record::Import& recording, std::size_t chosen) {
  constexpr std::size_t kMostNamed = 6;
  const std::size_t count = recording.processes.size() - (chosen < recording.processes.size() ? 1 : 0);
  if (count == 0) return {};
  std::string names;
  std::size_t named = 0;
  for (std::size_t i = 0; i < recording.processes.size() && named < kMostNamed; ++i) {
    if (i != chosen) names += (named++ == 0 ? "" : ", ") + describe(recording.processes[i]);
  }
  return fmt::format("the recording holds {}{}: {}{}", count, count == 1 ? " more process" : " more processes", names,
                     named < count ? ", …" : "");
}

std::expected<Source, std::string> load_recording(const std::string& path, const LogName& name,
                                                  std::string_view bytes) {
  auto recording = record::import_recording(bytes, name.path);
  if (!recording) return cannot_read(name.path, recording.error());
  const auto chosen = chosen_process(*recording, name.process);
  if (!chosen) return std::unexpected(fmt::format("faultline: {}: {}\n", name.path, chosen.error()));
  record::RecordedProcess& process = recording->processes[*chosen];
  std::vector<std::string> notes = std::move(process.notes);
  std::ranges::move(recording->notes, std::back_inserter(notes));
  if (const std::string others = other_processes(*recording, *chosen); !others.empty()) {
    notes.push_back(others + fmt::format("; {}:PID chooses one", name.path));
  }
  // As text it has lines, which tables and messages name.
  std::string text = program::print(process.program);
  auto program = program::parse(text, path);
  if (!program) return std::unexpected(program::render(program.error()));
  return Source{path, std::move(text), std::move(*program), std::move(notes)};
}

}  // namespace

std::expected<std::size_t, std::string> chosen_process(const record::Import& recording, const std::string& id) {
  if (id.empty()) return 0;
  const auto found = std::ranges::find(recording.processes, id, &record::RecordedProcess::id);
  if (found != recording.processes.end()) return static_cast<std::size_t>(found - recording.processes.begin());
  return std::unexpected(
      fmt::format("no process {}: the recording begins with {}", id, describe(recording.processes.front())));
}

std::expected<RecordingFile, std::string> load_recording_file(const std::string& path) {
  const LogName name = log_name(path);
  const auto bytes = read_all(name.path);
  if (!bytes) return std::unexpected(bytes.error());
  auto recording = record::import_recording(*bytes, name.path);
  if (!recording) return cannot_read(name.path, recording.error());
  const auto chosen = chosen_process(*recording, name.process);
  if (!chosen) return std::unexpected(fmt::format("faultline: {}: {}\n", name.path, chosen.error()));
  return RecordingFile{std::move(*recording), *chosen, bytes->size()};
}

std::expected<Source, std::string> load(const std::string& path, Language language) {
  if (language == Language::by_content && path.ends_with(".fl")) language = Language::faultline;
  const LogName log = language == Language::faultline ? LogName{path, ""} : log_name(path);
  auto text = read_all(log.path);
  if (!text) return std::unexpected(text.error());
  if (language == Language::recording || (language == Language::by_content && record::looks_like_recording(*text))) {
    return load_recording(path, log, *text);
  }
  const bool as_log =
      language == Language::strace || (language == Language::by_content && program::looks_like_strace(*text));
  if (as_log) return load_log(path, log, std::move(*text));
  if (!log.process.empty())
    return cannot_read(path, "it is a program; expected a log of strace or a recording before ':PID'");
  auto program = program::parse(*text, path);
  if (!program) return std::unexpected(program::render(program.error()));
  return Source{path, std::move(*text), std::move(*program), {}};
}

void print_notes(const Source& source) {
  for (const std::string& note : source.notes) fmt::print(stderr, "faultline: {}: {}\n", source.path, note);
}

std::string ending_message(const Source& source, const run::Report& report) {
  if (report.ended_at.line == 0) {
    return fmt::format("faultline: {}: {}: {}\n", source.path, report.machine, report::ending_text(report));
  }
  // The rendered error names file, line and column itself.
  run::Report placeless = report;
  placeless.ended_at = {};
  const std::string what = fmt::format("{}: {}", report.machine, report::ending_text(placeless));
  return program::render(program::error_at(source.text, source.program.name, report.ended_at, what));
}

}  // namespace faultline::cli
