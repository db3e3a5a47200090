#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "record/format.h"

namespace faultline::record {

/// Where this process hands its records over: a named pipe that the command reads. Not for several threads at once.
class Channel {
 public:
  void open(std::string path);
  const std::string& path() const { return path_; }
  /// After a fork, in the child: what the parent has not handed over yet stays the parent's.
  void forked();

  /// A record: begin, fields, end.
  Channel& begin(Kind kind);
  Channel& number(std::uint64_t value);
  Channel& text(std::string_view value);
  void end();

  void flush();

 private:
  static constexpr std::size_t kLongestRecord = kLongestPath + 128;

  void connect();
  bool connected() const;

  std::string path_;
  int pipe_ = -1;
  ino_t inode_ = 0;
  std::array<unsigned char, kChunk> chunk_{};
  std::size_t used_ = kChunkHeader;
  std::array<unsigned char, kLongestRecord> record_{};
  std::size_t length_ = 0;
  std::uint64_t lost_ = 0;  // bytes of records
};

}  // namespace faultline::record
