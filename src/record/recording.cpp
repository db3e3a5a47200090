#include "record/recording.h"

#include <zlib.h>

#include <bit>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace faultline::record {
namespace {

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
  return word;
}

/// Takes the fields of records out of a frame. After the first that is missing or too long, all are 0.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}
  bool more() const { return !broken_ && at_ < bytes_.size(); }
  bool broken() const { return broken_; }
  std::size_t at() const { return at_; }

  std::uint8_t byte() {
    if (at_ >= bytes_.size()) broken_ = true;
    return broken_ ? 0 : static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      const std::uint64_t bits = part & 0x7fU;
      if (shift == 63 && bits > 1) break;
      value |= bits << shift;
      if ((part & 0x80U) == 0) return broken_ ? 0 : value;
    }
    broken_ = true;
    return 0;
  }
  std::string text() {
    const std::uint64_t length = number();
    if (length > kLongestPath || length > bytes_.size() - at_) broken_ = true;
    if (broken_) return {};
    at_ += length;
    return std::string(bytes_.substr(at_ - length, length));
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

template <class Enum>
std::optional<Enum> choice(std::uint64_t value, Enum first, Enum last) {
  if (value < static_cast<std::uint64_t>(first) || value > static_cast<std::uint64_t>(last)) return std::nullopt;
  return static_cast<Enum>(value);
}

std::optional<Record> read_call(Fields& fields) {
  MemoryCall call;
  call.thread = fields.number();
  const auto which = choice(fields.number(), Call::mmap, static_cast<Call>(kLastCall));
  call.site = fields.number();
  call.count = fields.number();
  if (!which || call.count > kMostArguments) return std::nullopt;
  call.call = *which;
  for (std::uint64_t i = 0; i < call.count; ++i) call.arguments[i] = fields.number();
  call.result = fields.number();
  call.file = fields.number();
  return call;
}

std::optional<Record> read_access(Fields& fields) {
  Access access;
  access.thread = fields.number();
  const auto touch = choice(fields.number(), Touch::load, Touch::kernel_store);
  access.address = fields.number();
  access.bytes = fields.number();
  access.site = fields.number();
  if (!touch || access.bytes == 0 || access.bytes > ~access.address) return std::nullopt;
  access.touch = *touch;
  return access;
}

std::optional<Record> read_refused(Fields& fields) {
  Refused refused;
  refused.thread = fields.number();
  const auto touch = choice(fields.number(), Touch::load, Touch::store);
  refused.address = fields.number();
  refused.site = fields.number();
  const std::uint64_t signal = fields.number();
  const std::uint64_t code = fields.number();
  constexpr std::uint64_t kLastCode = 4;  // SEGV_PKUERR; BUS_MCEERR_AR
  if (!touch || (signal != SIGSEGV && signal != SIGBUS) || code == 0 || code > kLastCode) return std::nullopt;
  refused.touch = *touch;
  refused.signal = static_cast<int>(signal);
  refused.code = static_cast<int>(code);
  return refused;
}

/// Nothing for what is no record. Braced initializers are evaluated from left to right.
std::optional<Record> read_record(Kind kind, Fields& fields, std::uint32_t version) {
  switch (kind) {
    case Kind::process:
      return std::nullopt;
    case Kind::start: {
      const auto machine = choice(fields.number(), Machine::x86_64, Machine::arm64);
      if (!machine) return std::nullopt;
      return Start{*machine, fields.text()};
    }
    case Kind::file: {
      File file{fields.number(), fields.number(), fields.text()};
      if (version < kFirstWithNoPages && file.bytes == 0) file.bytes = kNoPages;
      return file;
    }
    case Kind::site:
      return Site{fields.number(), fields.number(), fields.number()};
    case Kind::mapped: {
      const Mapped mapped{fields.number(), fields.number(), fields.number(),
                          fields.number(), fields.number(), fields.number()};
      if (mapped.bytes > ~mapped.address) return std::nullopt;
      return mapped;
    }
    case Kind::access:
      return read_access(fields);
    case Kind::call:
      return read_call(fields);
    case Kind::forking:
      return Forking{fields.number(), fields.number(), fields.number()};
    case Kind::forked:
      return Forked{fields.number(), fields.number()};
    case Kind::ended:
      return Ended{fields.number(), fields.number()};
    case Kind::foreign:
      return Foreign{fields.text()};
    case Kind::incomplete:
      return Incomplete{fields.number()};
    case Kind::native: {
      Native native{fields.number(), fields.number(), PerfCount::none, 0};
      const auto perf = choice(fields.number(), PerfCount::none, PerfCount::of_user_mode);
      native.page_faults = fields.number();
      if (!perf) return std::nullopt;
      native.perf = *perf;
      return native;
    }
    case Kind::refused:
      return read_refused(fields);
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(std::string_view bytes, const RecordReader& reader) : bytes_(bytes), reader_(reader) {}

  std::expected<Closing, std::string> run() {
    const std::size_t header = kMagic.size() + 4;
    if (!looks_like_recording(bytes_) || bytes_.size() < header) {
      return std::unexpected("no recording: expected one that `faultline record` wrote");
    }
    version_ = word_at(bytes_, kMagic.size());
    if (version_ < kOldestVersion || version_ > kVersion) {
      return std::unexpected("version " + std::to_string(version_) + " of the format; expected version " +
                             std::to_string(kOldestVersion) + " to " + std::to_string(kVersion));
    }
    for (at_ = header; at_ < bytes_.size(); ++frame_) {
      auto content = frame();
      if (!content) return std::unexpected(content.error());
      if (content->empty()) {
        if (at_ == bytes_.size()) return Closing::complete;
        return damaged("expected nothing behind the last frame");
      }
      if (auto wrong = records(*content); !wrong.empty()) return damaged(wrong);
    }
    return Closing::open;
  }

 private:
  std::unexpected<std::string> damaged(const std::string& why) const {
    return std::unexpected("frame " + std::to_string(frame_) + ": " + why);
  }

  std::expected<std::string_view, std::string> frame() {
    constexpr std::size_t kLongestCompressed = kLongestFrame + kLongestFrame / 64;
    if (bytes_.size() - at_ < kFrameHeader) return damaged("cut off in its header");
    if (word_at(bytes_, at_) != kFrameMark) return damaged("damaged: expected the mark of a frame");
    const std::size_t compressed = word_at(bytes_, at_ + 4);
    const std::size_t length = word_at(bytes_, at_ + 8);
    if (compressed > kLongestCompressed || length > kLongestFrame) {
      return damaged("damaged: a length that no frame has");
    }
    const std::string_view content = bytes_.substr(at_ + kFrameHeader);
    if (content.size() < compressed) {
      return damaged("cut off: expected " + std::to_string(compressed) + " bytes, found " +
                     std::to_string(content.size()));
    }
    const auto* data = reinterpret_cast<const Bytef*>(content.data());
    if (crc32(0, data, static_cast<uInt>(compressed)) != word_at(bytes_, at_ + 12)) {
      return damaged("damaged: its sum is not that of its bytes");
    }
    at_ += kFrameHeader + compressed;
    if (length == 0) return std::string_view();
    content_.resize(length);
    uLongf got = length;
    const int status = uncompress(reinterpret_cast<Bytef*>(content_.data()), &got, data, compressed);
    if (status != Z_OK || got != length) return damaged("damaged: it does not uncompress to the length that it names");
    return std::string_view(content_);
  }

  std::string records(std::string_view content) {
    Fields fields(content);
    while (fields.more()) {
      const std::size_t begin = fields.at();
      const auto place = [&] { return " in the record at byte " + std::to_string(begin); };
      const std::uint8_t kind = fields.byte();
      if (kind == static_cast<std::uint8_t>(Kind::process)) {
        const std::uint64_t pid = fields.number();
        if (fields.broken() || pid > ~std::uint32_t{0}) return "expected a pid" + place();
        pid_ = static_cast<std::uint32_t>(pid);
        continue;
      }
      auto record = read_record(static_cast<Kind>(kind), fields, version_);
      if (fields.broken() || !record) return "expected a record of a known kind with all its fields" + place();
      if (auto wrong = reader_(pid_, *record); !wrong.empty()) return wrong + place();
    }
    return {};
  }

  std::string_view bytes_;
  const RecordReader& reader_;
  std::size_t at_ = 0;
  std::uint64_t frame_ = 1;
  std::uint32_t version_ = 0;
  std::uint32_t pid_ = 0;
  std::string content_;
};

}  // namespace

bool looks_like_recording(std::string_view bytes) { return bytes.starts_with(kMagic); }

std::expected<Closing, std::string> read_recording(std::string_view bytes, const RecordReader& reader) {
  return Reader(bytes, reader).run();
}

}  // namespace faultline::record
