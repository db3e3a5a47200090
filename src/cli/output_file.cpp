#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace faultline::cli {
namespace {

std::unexpected<std::string> cannot_write(const std::string& path) {
  return std::unexpected(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// mkstemp gives 0600; the file is to be as readable as any other that the user makes.
mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// A device or a pipe cannot be replaced, only written to.
bool is_replaceable(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

std::expected<void, std::string> write_in_place(const std::string& path, std::string_view text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_write(path);
  const bool written = write_all(descriptor, text);
  if (close(descriptor) != 0 || !written) return cannot_write(path);
  return {};
}

}  // namespace

std::expected<void, std::string> write_file(const std::string& path, std::string_view text) {
  if (path == "-") {
    if (std::fflush(stdout) != 0 || !write_all(STDOUT_FILENO, text)) return cannot_write("standard output");
    return {};
  }
  if (!is_replaceable(path)) return write_in_place(path, text);
  std::string beside = path + ".XXXXXX";
  const int descriptor = mkostemp(beside.data(), O_CLOEXEC);
  if (descriptor < 0) return cannot_write(path);
  bool written = write_all(descriptor, text) && fchmod(descriptor, usual_mode()) == 0;
  written = close(descriptor) == 0 && written;
  if (written && rename(beside.c_str(), path.c_str()) == 0) return {};
  const int why = errno;
  unlink(beside.c_str());
  errno = why;
  return cannot_write(path);
}

}  // namespace faultline::cli
