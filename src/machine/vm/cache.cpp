#include "machine/vm/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "machine/vm/subprocess.h"

namespace faultline::machine::vm {
namespace {

namespace fs = std::filesystem;

std::unexpected<std::string> failed(const fs::path& file, int error) {
  return std::unexpected(fmt::format("{}: {}", file.string(), std::strerror(error)));
}

}  // namespace

std::expected<fs::path, std::string> cache_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')
    return fs::path(xdg) / "faultline";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".cache" / "faultline";
  }
  return std::unexpected("neither XDG_CACHE_HOME nor HOME names a folder for kernels and snapshots");
}

std::expected<std::string, std::string> read_whole(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed(path, errno);
  struct stat about{};
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(file);
    return std::unexpected(path.string() + ": expected a file");
  }
  std::string content(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = read(file, content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  close(file);
  content.resize(done);
  return content;
}

std::expected<void, std::string> write_whole(const fs::path& path, std::string_view content) {
  const fs::path temporary = path.string() + fmt::format(".{}", getpid());
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return failed(temporary, errno);
  const bool written = write_all(file, content);
  int error = written ? 0 : errno;
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(temporary.c_str());
  return failed(path, error);
}

std::expected<void, std::string> copy_sparse(int from, const fs::path& path) {
  constexpr std::size_t kPage = 4096;
  const int to = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  struct stat about{};
  bool fine = to >= 0 && fstat(from, &about) == 0 && ftruncate(to, about.st_size) == 0;
  std::array<char, 64 * kPage> buffer{};
  for (off_t at = 0; fine && (at = lseek(from, at, SEEK_DATA)) >= 0;) {
    const off_t end = lseek(from, at, SEEK_HOLE);
    while (fine && at < end) {
      const ssize_t got = pread(from, buffer.data(), std::min<std::size_t>(buffer.size(), end - at), at);
      fine = got > 0;
      for (ssize_t page = 0; fine && page < got; page += kPage) {
        const std::string_view bytes(buffer.data() + page, std::min<std::size_t>(kPage, got - page));
        if (bytes.find_first_not_of('\0') == std::string_view::npos) continue;
        fine = lseek(to, at + page, SEEK_SET) >= 0 && write_all(to, bytes);
      }
      at += got;
    }
  }
  const int error = fine ? 0 : errno;
  if (to >= 0 && close(to) != 0 && fine) return failed(path, errno);
  if (!fine) return failed(path, error);
  return {};
}

std::expected<void, std::string> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return std::unexpected(folder.string() + ": " + error.message());
  return {};
}

std::string fingerprint(std::string_view content) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = 0xcbf29ce484222325 ^ content.size();
  const std::size_t whole = content.size() / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  for (std::size_t i = 0; i < whole; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, content.data() + i, sizeof word);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  }
  for (const char c : content.substr(whole)) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return fmt::format("{:016x}", hash);
}

}  // namespace faultline::machine::vm
