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
#include "program/strace.h"
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

}  // namespace

std::expected<Source, std::string> load(const std::string& path, Language language) {
  const LogName log = language == Language::faultline ? LogName{path, ""} : log_name(path);
  auto text = read_all(log.path);
  if (!text) return std::unexpected(text.error());
  const bool as_log =
      language == Language::strace || (language == Language::by_content && program::looks_like_strace(*text));
  if (as_log) return load_log(path, log, std::move(*text));
  if (!log.process.empty()) return cannot_read(path, "it is a program; expected a log of strace before ':PID'");
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
