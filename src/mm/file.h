#pragma once

#include <cstdint>

#include "base/errno.h"
#include "mm/shmem.h"
#include "mm/system.h"

namespace faultline::mm {

/// What open(2)'s O_RDONLY, O_WRONLY and O_RDWR permit (FMODE_READ, FMODE_WRITE).
enum class FileMode : std::uint8_t { none = 0, read = 1, write = 2 };

/// memfd_create(2) flags. Unknown bits are kept, so that the call can refuse them.
enum class MemfdFlags : std::uint32_t {
  none = 0,
  cloexec = 0x1,
  allow_sealing = 0x2,
  hugetlb = 0x4,
  noexec_seal = 0x8,
  exec = 0x10,
};
}  // namespace faultline::mm

template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::FileMode> = true;
template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::MemfdFlags> = true;

namespace faultline::mm {

/// What a descriptor of a memfd refers to: the object, and what it was opened for.
struct File {
  ShmemRef object;
  FileMode mode = FileMode::none;

  bool readable() const { return has(mode, FileMode::read); }
  bool writable() const { return has(mode, FileMode::write); }
};

/// memfd_create(2): an empty file, open for reading and writing, sealed against sealing unless the flags allow it.
/// EINVAL for flags that the kernel does not know, or that contradict each other. Not of huge pages.
Result<File> memfd_create(System& system, MemfdFlags flags);

/// fcntl(2) F_ADD_SEALS: EPERM without write permission or where sealing is sealed, EINVAL for unknown seals, EBUSY for
/// F_SEAL_WRITE while a mapping could write.
Result<void> add_seals(System& system, const File& file, FileSeals seals);

}  // namespace faultline::mm
