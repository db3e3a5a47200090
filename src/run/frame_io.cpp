#include "run/frame_io.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "run/message.h"

namespace faultline::run {
namespace {

/// Milliseconds for poll(2): -1 for ever, at least 1 while time is left.
int patience(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count() + 1, 0, 1 << 30));
}

std::optional<ReadFault> read_exactly(int file, std::string& into, std::size_t bytes, const Deadline& deadline) {
  // Grows as the bytes arrive: a length in a header is only a claim.
  constexpr std::size_t kStep = 1 << 20;
  while (bytes != 0) {
    pollfd ready{file, POLLIN, 0};
    const int polled = poll(&ready, 1, patience(deadline));
    if (polled < 0 && errno == EINTR) continue;
    if (polled == 0) return ReadFault::timeout;
    const std::size_t at = into.size();
    into.resize(at + std::min(bytes, kStep));
    const ssize_t got = read(file, into.data() + at, into.size() - at);
    into.resize(at + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return ReadFault::closed;
    bytes -= static_cast<std::size_t>(got);
  }
  return std::nullopt;
}

}  // namespace

std::expected<std::string, ReadFault> read_frame(int file, Deadline deadline) {
  std::string header;
  if (const auto fault = read_exactly(file, header, kFrameHeader, deadline)) return std::unexpected(*fault);
  const auto parsed = parse_frame_header(header);
  if (!parsed) {
    return std::unexpected(parsed.error() == FrameFault::other_version ? ReadFault::other_version : ReadFault::damaged);
  }
  std::string body;
  if (const auto fault = read_exactly(file, body, parsed->length, deadline)) return std::unexpected(*fault);
  if (checksum(body) != parsed->checksum) return std::unexpected(ReadFault::damaged);
  return body;
}

bool write_frame(int file, std::string_view body) {
  const std::string whole = frame(body);
  std::string_view left = whole;
  while (!left.empty()) {
    const ssize_t written = write(file, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace faultline::run
