#include "agent/system_call.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>

namespace faultline::agent {
namespace {

// Calls that the C library's headers may be too old for.
constexpr long kMseal = 462;
constexpr long kIoUringSetup = 425;
constexpr long kIoUringRegister = 427;

using program::Sys;

long number_of(Sys sys) {
  switch (sys) {
    case Sys::mmap:
      return SYS_mmap;
    case Sys::munmap:
      return SYS_munmap;
    case Sys::mprotect:
      return SYS_mprotect;
    case Sys::pkey_mprotect:
      return SYS_pkey_mprotect;
    case Sys::madvise:
      return SYS_madvise;
    case Sys::mremap:
      return SYS_mremap;
    case Sys::mseal:
      return kMseal;
    case Sys::mlock:
      return SYS_mlock;
    case Sys::mlock2:
      return SYS_mlock2;
    case Sys::munlock:
      return SYS_munlock;
    case Sys::mlockall:
      return SYS_mlockall;
    case Sys::munlockall:
      return SYS_munlockall;
    case Sys::msync:
      return SYS_msync;
    case Sys::mincore:
      return SYS_mincore;
    case Sys::brk:
      return SYS_brk;
    case Sys::memfd_create:
      return SYS_memfd_create;
    case Sys::ftruncate:
      return SYS_ftruncate;
    case Sys::open:
      return SYS_openat;  // arm64 has no open
    case Sys::close:
      return SYS_close;
    case Sys::read:
      return SYS_read;
    case Sys::write:
      return SYS_write;
    case Sys::lseek:
      return SYS_lseek;
    case Sys::pipe2:
      return SYS_pipe2;
    case Sys::fcntl:
      return SYS_fcntl;
    case Sys::prlimit64:
      return SYS_prlimit64;
    case Sys::prctl:
      return SYS_prctl;
    case Sys::io_uring_setup:
      return kIoUringSetup;
    case Sys::io_uring_register:
      return kIoUringRegister;
    case Sys::getppid:
      return SYS_getppid;
    case Sys::pkey_alloc:
      return SYS_pkey_alloc;
    case Sys::pkey_free:
      return SYS_pkey_free;
    case Sys::userfaultfd:
      return SYS_userfaultfd;
    case Sys::ioctl:       // its argument is a struct (userfaultfd_call.h)
    case Sys::clear_refs:  // a write (clear_refs.h)
    case Sys::pkey_set:    // a register of the thread (native_pkeys.cpp)
    case Sys::pkey_get:
    case Sys::change_prot_numa:
    case Sys::count_:
      break;
  }
  return -1;  // the kernel answers ENOSYS
}

}  // namespace

RawCall raw_call(const run::CallRequest& call) {
  RawCall raw{number_of(call.sys), {}};
  std::ranges::copy(call.arguments, std::begin(raw.arguments));
  if (call.sys == Sys::open) {
    std::copy_backward(std::begin(raw.arguments), std::end(raw.arguments) - 1, std::end(raw.arguments));
    raw.arguments[0] = static_cast<std::uint64_t>(AT_FDCWD);
  }
  return raw;
}

}  // namespace faultline::agent
