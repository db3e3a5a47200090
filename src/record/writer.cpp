#include "record/writer.h"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace faultline::record {
namespace {

void put_word(std::string& to, std::uint32_t word) {
  for (unsigned shift = 0; shift < 32; shift += 8) to.push_back(static_cast<char>(word >> shift));
}

void put_number(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) to.push_back(static_cast<char>(value | 0x80U));
  to.push_back(static_cast<char>(value));
}

}  // namespace

std::string recording_header() {
  std::string header(kMagic);
  put_word(header, kVersion);
  return header;
}

std::string recording_frame(std::string_view records) {
  std::string compressed;
  if (!records.empty()) {
    uLongf length = compressBound(records.size());
    compressed.resize(length);
    compress2(reinterpret_cast<Bytef*>(compressed.data()), &length, reinterpret_cast<const Bytef*>(records.data()),
              records.size(), Z_DEFAULT_COMPRESSION);
    compressed.resize(length);
  }
  std::string frame;
  put_word(frame, kFrameMark);
  put_word(frame, static_cast<std::uint32_t>(compressed.size()));
  put_word(frame, static_cast<std::uint32_t>(records.size()));
  put_word(frame, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(compressed.data()),
                                                   static_cast<uInt>(compressed.size()))));
  return frame + compressed;
}

std::string native_record(const Native& native) {
  std::string record(1, static_cast<char>(Kind::native));
  put_number(record, native.minor_faults);
  put_number(record, native.major_faults);
  put_number(record, static_cast<std::uint64_t>(native.perf));
  put_number(record, native.page_faults);
  return record;
}

Writer::Writer(int descriptor) : descriptor_(descriptor) { write_all(recording_header()); }

void Writer::add(std::uint32_t pid, std::string_view records) {
  constexpr std::size_t kEnough = kLongestFrame / 2;
  constexpr std::size_t kProcessRecord = 8;
  // Each frame says whose its first record is.
  if (content_.size() + records.size() + kProcessRecord > kEnough) flush();
  if (content_.empty() || pid != pid_) {
    content_.push_back(static_cast<char>(Kind::process));
    put_number(content_, pid);
    pid_ = pid;
  }
  content_ += records;
}

void Writer::flush() {
  if (content_.empty()) return;
  write_all(recording_frame(content_));
  content_.clear();
}

void Writer::close() {
  flush();
  write_all(recording_frame({}));
}

void Writer::write_all(std::string_view bytes) {
  while (!bytes.empty() && !error_) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      error_ = std::strerror(errno);
      return;
    }
    written_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace faultline::record
