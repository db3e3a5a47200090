#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace faultline {

/// Specialise to true for an enum whose values are bits that combine.
template <class E>
inline constexpr bool kIsFlagSet = false;

template <class E>
concept FlagSet = std::is_enum_v<E> && kIsFlagSet<E>;

template <FlagSet E>
constexpr E operator|(E a, E b) {
  return static_cast<E>(std::to_underlying(a) | std::to_underlying(b));
}
template <FlagSet E>
constexpr E operator&(E a, E b) {
  return static_cast<E>(std::to_underlying(a) & std::to_underlying(b));
}
template <FlagSet E>
constexpr E operator^(E a, E b) {
  return static_cast<E>(std::to_underlying(a) ^ std::to_underlying(b));
}
template <FlagSet E>
constexpr E operator~(E a) {
  return static_cast<E>(~std::to_underlying(a));
}
template <FlagSet E>
constexpr E& operator|=(E& a, E b) {
  return a = a | b;
}
template <FlagSet E>
constexpr E& operator&=(E& a, E b) {
  return a = a & b;
}
/// True when any bit of `bits` is set in `set`.
template <FlagSet E>
constexpr bool has(E set, E bits) {
  return std::to_underlying(set & bits) != 0;
}

/// mmap(2) and mprotect(2) protection. Unknown bits are kept, so that a call can refuse them.
enum class Prot : std::uint64_t {
  none = 0,
  read = 1,
  write = 2,
  exec = 4,
  sem = 8,
  grows_down = 0x01000000,
  grows_up = 0x02000000,
};
template <>
inline constexpr bool kIsFlagSet<Prot> = true;

/// mmap(2) flags, generic values (x86-64 and arm64 share them).
enum class MapFlags : std::uint64_t {
  none = 0,
  shared = 0x01,
  private_ = 0x02,
  shared_validate = 0x03,
  droppable = 0x08,
  type_mask = 0x0f,
  fixed = 0x10,
  anonymous = 0x20,
  grows_down = 0x0100,
  locked = 0x2000,
  noreserve = 0x4000,
  populate = 0x8000,
  nonblock = 0x10000,
  stack = 0x20000,
  hugetlb = 0x40000,
  fixed_noreplace = 0x100000,
};
template <>
inline constexpr bool kIsFlagSet<MapFlags> = true;

/// mremap(2) flags.
enum class RemapFlags : std::uint64_t { none = 0, maymove = 1, fixed = 2, dontunmap = 4 };
template <>
inline constexpr bool kIsFlagSet<RemapFlags> = true;

/// mlock2(2), mlockall(2) and msync(2) flags. Unknown bits are kept, so that a call can refuse them.
enum class LockFlags : std::uint64_t { none = 0, onfault = 1 };
enum class LockAllFlags : std::uint64_t { none = 0, current = 1, future = 2, onfault = 4 };
enum class SyncFlags : std::uint64_t { none = 0, async = 1, invalidate = 2, sync = 4 };
template <>
inline constexpr bool kIsFlagSet<LockFlags> = true;
template <>
inline constexpr bool kIsFlagSet<LockAllFlags> = true;
template <>
inline constexpr bool kIsFlagSet<SyncFlags> = true;

/// madvise(2) advice. A value outside the list is a legal argument that the call refuses.
enum class Advice : int {
  normal = 0,
  random = 1,
  sequential = 2,
  willneed = 3,
  dontneed = 4,
  free = 8,
  remove = 9,
  dontfork = 10,
  dofork = 11,
  mergeable = 12,
  unmergeable = 13,
  hugepage = 14,
  nohugepage = 15,
  dontdump = 16,
  dodump = 17,
  wipeonfork = 18,
  keeponfork = 19,
  cold = 20,
  pageout = 21,
  populate_read = 22,
  populate_write = 23,
  dontneed_locked = 24,
  collapse = 25,
  hwpoison = 100,
  soft_offline = 101,
  guard_install = 102,
  guard_remove = 103,
};

/// How an instruction uses memory.
enum class AccessKind : std::uint8_t {
  load,
  store,
  atomic,  // one read-modify-write instruction
  fetch,   // instruction fetch
};

}  // namespace faultline
