#include "cli/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "program/parser.h"
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

}  // namespace

std::expected<Source, std::string> load(const std::string& path) {
  auto text = read_all(path);
  if (!text) return std::unexpected(text.error());
  auto program = program::parse(*text, path);
  if (!program) return std::unexpected(program::render(program.error()));
  return Source{path, std::move(*text), std::move(*program)};
}

std::string ending_message(const Source& source, const run::Report& report) {
  if (report.ended_at.line == 0) {
    return fmt::format("faultline: {}: {}: {}\n", source.path, report.machine, report::ending_text(report));
  }
  // The rendered error names file, line and column itself.
  run::Report placeless = report;
  placeless.ended_at = {};
  const std::string what = fmt::format("{}: {}", report.machine, report::ending_text(placeless));
  return program::render(program::error_at(source.text, source.path, report.ended_at, what));
}

}  // namespace faultline::cli
