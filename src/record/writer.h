#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "record/format.h"
#include "record/recording.h"

namespace faultline::record {

/// How a recording begins.
std::string recording_header();
/// Records, no more than kLongestFrame bytes of them, as they stand in a recording. Without any: its end.
std::string recording_frame(std::string_view records);

/// A record of Kind::native.
std::string native_record(const Native& native);

/// Writes a recording to a descriptor, frame by frame. What has been written can be read, wherever that ends.
class Writer {
 public:
  /// Writes the header at once. The descriptor stays the caller's.
  explicit Writer(int descriptor);

  /// Whole records of one process; no more than a chunk.
  void add(std::uint32_t pid, std::string_view records);
  /// What has come is written now.
  void flush();
  /// The end of a recording that is complete.
  void close();
  /// The first error of write(2), as a text.
  const std::optional<std::string>& error() const { return error_; }
  std::uint64_t written() const { return written_; }

 private:
  void write_all(std::string_view bytes);

  int descriptor_;
  std::uint32_t pid_ = 0;
  std::string content_;
  std::uint64_t written_ = 0;
  std::optional<std::string> error_;
};

}  // namespace faultline::record
