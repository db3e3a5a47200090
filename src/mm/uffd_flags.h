#pragma once

#include <cstdint>

#include "base/flags.h"

/// The bits of userfaultfd(2) and ioctl_userfaultfd(2), with the kernel's values. Unknown bits are kept, so that a call
/// can refuse them.
namespace faultline::mm {

/// UFFD_FEATURE_…
enum class UffdFeatures : std::uint64_t {
  none = 0,
  pagefault_flag_wp = 0x1,
  event_fork = 0x2,
  event_remap = 0x4,
  event_remove = 0x8,
  missing_hugetlbfs = 0x10,
  missing_shmem = 0x20,
  event_unmap = 0x40,
  sigbus = 0x80,  // no fault waits for a handler: it ends in SIGBUS
  thread_id = 0x100,
  minor_hugetlbfs = 0x200,
  minor_shmem = 0x400,
  exact_address = 0x800,
  wp_hugetlbfs_shmem = 0x1000,
  wp_unpopulated = 0x2000,  // protects addresses of anonymous memory too where no page is
  poison = 0x4000,
  wp_async = 0x8000,  // a write to a protected page takes the protection away by itself
  move = 0x10000,
  rwp = 0x20000,  // of 7.x: protection from reads, too
  rwp_async = 0x40000,
};

/// UFFDIO_REGISTER_MODE_…
enum class UffdModes : std::uint64_t { none = 0, missing = 1, wp = 2, minor = 4 };

/// The flags of userfaultfd(2).
enum class UffdFlags : std::uint64_t { none = 0, user_mode_only = 1, nonblock = 04000, cloexec = 02000000 };

/// UFFDIO_COPY_MODE_…, of which UFFDIO_ZEROPAGE knows the first.
enum class UffdFill : std::uint64_t { none = 0, dontwake = 1, wp = 2 };

/// UFFDIO_WRITEPROTECT_MODE_…
enum class UffdProtect : std::uint64_t { none = 0, wp = 1, dontwake = 2 };

}  // namespace faultline::mm

template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::UffdFeatures> = true;
template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::UffdModes> = true;
template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::UffdFlags> = true;
template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::UffdFill> = true;
template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::UffdProtect> = true;
