#pragma once

#include "base/errno.h"
#include "mm/file.h"
#include "mm/mm.h"

/// What mmap's type of mapping and the file behind it decide (D.5).
namespace faultline::mm {

/// The flags of the new VMA with what the type adds and the file takes away, or the refusal: EOVERFLOW, EOPNOTSUPP,
/// EACCES, EPERM (a write-sealed memfd, where the kernel looks early), EINVAL. `file` is nullptr for an anonymous
/// mapping.
Result<VmFlags> sharing_flags(Mm& mm, VmFlags flags, MapFlags type, const File* file, std::uint64_t pgoff,
                              std::uint64_t bytes);

/// What the file itself says once the range is free (its ->mmap): EPERM for a write-sealed memfd, where the kernel
/// looks late, else the flags.
Result<VmFlags> flags_of_file(Mm& mm, VmFlags flags, const File& file);

}  // namespace faultline::mm
