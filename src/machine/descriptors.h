#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "base/errno.h"
#include "machine/pipe.h"
#include "mm/file.h"
#include "mm/pin.h"
#include "mm/userfaultfd.h"

namespace faultline::machine {

/// /dev/zero.
struct Zeros {
  mm::FileMode mode = mm::FileMode::none;
};
/// A memfd, and where read and write go on.
struct Memfd {
  mm::File file;
  std::uint64_t position = 0;
};

/// One end of a pipe, open for reading or for writing.
struct PipeEnd {
  std::shared_ptr<Pipe> pipe;
  mm::FileMode mode = mm::FileMode::none;
  std::shared_ptr<void> alive;  // what the pipe sees of it
};

/// What userfaultfd(2) gave.
using Watcher = std::shared_ptr<mm::Userfaultfd>;

/// An io_uring, which is asked for nothing but to hold buffers (IORING_REGISTER_BUFFERS).
struct IoUring {
  std::vector<std::shared_ptr<mm::PinnedPages>> buffers;
};

/// What a descriptor refers to; descriptors inherited by fork share it.
using OpenFile = std::variant<Zeros, Memfd, PipeEnd, Watcher, IoUring>;

/// The open files of a modelled process. Copied by fork.
class Descriptors {
 public:
  /// The lowest free descriptor for a newly opened file; EMFILE when there is none.
  Result<std::uint64_t> install(OpenFile file);
  /// close(2): EBADF for what is not open.
  Result<void> close(std::uint64_t fd);
  /// What is open under that number, or nullptr.
  OpenFile* find(std::uint64_t fd) const;
  /// The same if it is a memfd.
  const mm::File* find_memfd(std::uint64_t fd) const;

 private:
  static constexpr std::uint64_t kFirst = 3;     // after standard input, output and error
  static constexpr std::uint64_t kLimit = 1024;  // RLIMIT_NOFILE as most systems set it
  std::vector<std::shared_ptr<OpenFile>> open_;  // from kFirst on
};

}  // namespace faultline::machine
