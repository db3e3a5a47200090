#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// The format of recordings, version 3 (docs/recording.md), as the plugin that writes it and all who read it share it.
namespace faultline::record {

/// The first bytes of a recording. The line ends and the 0 byte show a file that was sent as text.
inline constexpr std::string_view kMagic{"FLREC\r\n\0", 8};
inline constexpr std::uint32_t kVersion = 3;
/// The oldest that can be read: it has no Kind::native, and neither has Kind::refused.
inline constexpr std::uint32_t kOldestVersion = 1;

/// Before each frame: this word, the frame's length compressed and uncompressed, and the CRC-32 of its compressed
/// bytes; little-endian words of 32 bits.
inline constexpr std::uint32_t kFrameMark = 0x4d524652;
inline constexpr std::size_t kFrameHeader = 16;
/// No frame is longer than this when it is uncompressed.
inline constexpr std::size_t kLongestFrame = std::size_t{1} << 20U;

/// What begins a record: one byte, followed by the fields that are named here, integers in LEB128, strings as their
/// length and bytes.
enum class Kind : std::uint8_t {
  process = 1,  // pid: what follows is of this process
  start,        // arch, path: it executed this
  file,         // id, size in bytes or kNoPages, path; again where a file that is known has another size now
  site,         // id, id of the caller (0: none), address
  mapped,       // address, length, protection, flags, file (0: none), offset: there at the start, or found later
  access,       // thread, Touch, address, bytes, site
  call,         // thread, Call, site, count of arguments, arguments, result, file (0: none)
  forking,      // thread, flags of clone(2), serial: it is about to fork, which may fail
  forked,       // pid of the parent, serial: this process came of that fork
  ended,        // thread, status as exit_group(2) had it
  foreign,      // path: it executed this, which is not recorded
  incomplete,   // kilobytes of records that could not be handed over
  native,       // minor faults, major faults, PerfCount, page faults by perf: of the command without QEMU
  refused,      // thread, Touch (load or store), address, site, signal, si_code: an access that ended in a signal
};

/// The size of what has no pages of its own, such as a device.
inline constexpr std::uint64_t kNoPages = ~std::uint64_t{0};
/// In versions before this one it is 0.
inline constexpr std::uint32_t kFirstWithNoPages = 3;

/// How a page was touched.
enum class Touch : std::uint8_t { load, store, atomic, fetch, kernel_store };

/// Which page faults perf_event_open(2) counted.
enum class PerfCount : std::uint8_t { none, all, of_user_mode };

/// The system calls that are recorded.
enum class Call : std::uint8_t {
  mmap = 1,
  munmap,
  mprotect,
  pkey_mprotect,
  madvise,
  mremap,
  mseal,
  mlock,
  mlock2,
  munlock,
  mlockall,
  munlockall,
  msync,
  brk,
  prctl,
};
inline constexpr std::uint8_t kLastCall = static_cast<std::uint8_t>(Call::prctl);
inline constexpr std::size_t kMostArguments = 6;

enum class Machine : std::uint8_t { x86_64 = 1, arm64 = 2 };

/// The longest path that a record holds; what is longer is cut.
inline constexpr std::size_t kLongestPath = 1024;

/// Between the plugin and the command: each chunk of whole records of one process begins with the length of the chunk
/// and the pid, words of 32 bits; a chunk is no longer than a pipe takes at once, so that those of several processes do
/// not mix (PIPE_BUF of pipe(7)).
inline constexpr std::size_t kChunk = 4096;
inline constexpr std::size_t kChunkHeader = 8;

}  // namespace faultline::record
