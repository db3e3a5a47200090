#include "export/spelling.h"

#include <string_view>

namespace faultline::exports {
namespace {

using program::Spelling;
using program::Sys;

// From here on a process has its libraries and its stack. Moved by whole entries of the upper page tables, so that what
// shared tables shares them still.
constexpr std::uint64_t kTop = 0x7f0000000000;
constexpr std::uint64_t kMovedTop = 0x100000000000;
constexpr std::uint64_t kArm64Top = 0xff0000000000;

/// How the arguments of a call are written, one letter each.
std::string_view letters_of(Sys sys) {
  switch (sys) {
    case Sys::mmap:
      return "anpmnn";
    case Sys::munmap:
    case Sys::mlock:
    case Sys::munlock:
    case Sys::mseal:
      return "ann";
    case Sys::mprotect:
    case Sys::pkey_mprotect:
      return "anpn";
    case Sys::madvise:
      return "anv";
    case Sys::mremap:
      return "annra";
    case Sys::mlock2:
      return "anl";
    case Sys::mlockall:
      return "L";
    case Sys::msync:
      return "ans";
    case Sys::mincore:
      return "ana";
    case Sys::memfd_create:
      return "tf";
    case Sys::open:
      return "tnn";
    case Sys::read:
    case Sys::write:
      return "nan";
    case Sys::prctl:
      return "onnnn";
    case Sys::pipe2:
      return "an";
    case Sys::prlimit64:
      return "nnaa";
    default:
      return "nnnnnn";
  }
}

Spelling named(char letter) {
  switch (letter) {
    case 'a':
      return Spelling::address;
    case 'p':
      return Spelling::protection;
    case 'm':
      return Spelling::map_flags;
    case 'v':
      return Spelling::advice;
    case 'r':
      return Spelling::remap_flags;
    case 's':
      return Spelling::sync_flags;
    case 'l':
      return Spelling::lock_flags;
    case 'L':
      return Spelling::lockall_flags;
    case 'f':
      return Spelling::memfd_flags;
    case 'o':
      return Spelling::prctl_option;
    default:
      return Spelling::number;
  }
}

}  // namespace

Spelling spelling_of(Sys sys, std::size_t argument) {
  const std::string_view letters = letters_of(sys);
  return named(argument < letters.size() ? letters[argument] : 'n');
}

std::uint64_t moved(std::uint64_t address) {
  if (address >= kArm64Top && address < kArm64Top + 0x10000000000) return address - kArm64Top + kMovedTop;
  if (address >= kTop && address < kTop + 0x10000000000) return address - kTop + kMovedTop;
  return address;
}

}  // namespace faultline::exports
