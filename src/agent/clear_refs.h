#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "agent/system_call.h"

namespace faultline::agent {

/// A file of /proc/self, opened when it is first asked for.
class ClearRefsFile {
 public:
  ClearRefsFile() = default;
  ~ClearRefsFile() { close(); }
  ClearRefsFile(const ClearRefsFile&) = delete;
  ClearRefsFile& operator=(const ClearRefsFile&) = delete;

  /// The write(2) of that number to /proc/self/clear_refs; the call refers to this object. Where the file cannot be
  /// opened, the write fails as one to no file does.
  RawCall write_of(int number);
  /// After a fork: /proc/self was the parent when it was opened.
  void close();

 private:
  int file_ = -1;
  std::array<char, 12> text_{};
};

}  // namespace faultline::agent
