#pragma once

#include <cstdint>

#include "base/errno.h"
#include "mm/address_space.h"

/// What read(2) and write(2) of a memfd do to the memory of a process. A buffer that may not be used makes the call
/// fail with EFAULT, or stop short where some bytes went before it; never a signal.
namespace faultline::mm {

/// The most that one call moves (MAX_RW_COUNT).
inline constexpr std::uint64_t kMostBytesPerCall = 0x7ffff000;

/// What every read and write refuses first: EFAULT for a buffer that reaches beyond user space.
Result<void> check_buffer(const AddressSpace& space, Addr buffer, std::uint64_t length);

/// pread(2): the bytes read, 0 at the end of the file. EBADF if it is not open for reading.
Result<std::uint64_t> read_file(AddressSpace& space, const File& file, std::uint64_t position, Addr buffer,
                                std::uint64_t length);
/// pwrite(2): the bytes written; the file grows as needed. EBADF if it is not open for writing, EPERM if it is sealed.
Result<std::uint64_t> write_file(AddressSpace& space, const File& file, std::uint64_t position, Addr buffer,
                                 std::uint64_t length);

}  // namespace faultline::mm
