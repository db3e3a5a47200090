#pragma once

#include <bitset>
#include <cstdint>

#include "base/errno.h"

namespace faultline::machine {

/// The open files of a modelled process. The only file there is so far is /dev/zero.
class Descriptors {
 public:
  /// open(2) of /dev/zero: the lowest free descriptor; EMFILE when there is none.
  Result<int> open_zeros();
  /// close(2): EBADF for what is not open.
  Result<void> close(std::uint64_t fd);
  bool is_open(std::uint64_t fd) const { return fd >= kFirst && fd < kLimit && open_[fd]; }

 private:
  static constexpr std::uint64_t kFirst = 3;     // after standard input, output and error
  static constexpr std::uint64_t kLimit = 1024;  // RLIMIT_NOFILE as most systems set it
  std::bitset<kLimit> open_;
};

}  // namespace faultline::machine
