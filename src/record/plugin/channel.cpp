#include "record/plugin/channel.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace faultline::record {

void Channel::open(std::string path) {
  path_ = std::move(path);
  connect();
}

void Channel::connect() {
  // Out of the way of the program's own descriptors, which are given away from below.
  constexpr int kFirst = 1000;
  const int low = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (low < 0) return;
  const int high = fcntl(low, F_DUPFD_CLOEXEC, kFirst);
  if (high >= 0) close(low);
  pipe_ = high >= 0 ? high : low;
  struct stat status{};
  if (fstat(pipe_, &status) == 0) inode_ = status.st_ino;
}

/// A program may close descriptors that it does not know, and get the number again for a file of its own.
bool Channel::connected() const {
  struct stat status{};
  return pipe_ >= 0 && fstat(pipe_, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_ino == inode_;
}

void Channel::forked() { used_ = kChunkHeader; }

Channel& Channel::begin(Kind kind) {
  length_ = 0;
  record_[length_++] = static_cast<unsigned char>(kind);
  return *this;
}

Channel& Channel::number(std::uint64_t value) {
  constexpr std::uint64_t kMore = 0x80;
  for (; value >= kMore; value >>= 7U) record_[length_++] = static_cast<unsigned char>(value | kMore);
  record_[length_++] = static_cast<unsigned char>(value);
  return *this;
}

Channel& Channel::text(std::string_view value) {
  value = value.substr(0, kLongestPath);
  number(value.size());
  std::ranges::copy(value, record_.begin() + static_cast<std::ptrdiff_t>(length_));
  length_ += value.size();
  return *this;
}

void Channel::end() {
  if (used_ + length_ > chunk_.size()) flush();
  std::copy_n(record_.begin(), length_, chunk_.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ += length_;
}

void Channel::flush() {
  if (used_ == kChunkHeader) return;
  if (!connected()) connect();
  const auto length = static_cast<std::uint32_t>(used_ - kChunkHeader);
  const auto pid = static_cast<std::uint32_t>(getpid());
  std::memcpy(chunk_.data(), &length, 4);
  std::memcpy(chunk_.data() + 4, &pid, 4);
  ssize_t written = -1;
  do {
    written = write(pipe_, chunk_.data(), used_);
  } while (written < 0 && errno == EINTR);
  used_ = kChunkHeader;
  if (written < 0) {
    lost_ += length;
  } else if (lost_ > 0) {
    const std::uint64_t kilobytes = lost_ / 1024 + 1;
    lost_ = 0;
    begin(Kind::incomplete).number(kilobytes).end();
  }
}

}  // namespace faultline::record
