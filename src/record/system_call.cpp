#include "record/system_call.h"

#include <utility>

namespace faultline::record {

using program::Sys;

Sys sys_of(Call call) {
  switch (call) {
    case Call::mmap:
      return Sys::mmap;
    case Call::munmap:
      return Sys::munmap;
    case Call::mprotect:
      return Sys::mprotect;
    case Call::pkey_mprotect:
      return Sys::pkey_mprotect;
    case Call::madvise:
      return Sys::madvise;
    case Call::mremap:
      return Sys::mremap;
    case Call::mseal:
      return Sys::mseal;
    case Call::mlock:
      return Sys::mlock;
    case Call::mlock2:
      return Sys::mlock2;
    case Call::munlock:
      return Sys::munlock;
    case Call::mlockall:
      return Sys::mlockall;
    case Call::munlockall:
      return Sys::munlockall;
    case Call::msync:
      return Sys::msync;
    case Call::brk:
      return Sys::brk;
    case Call::prctl:
      return Sys::prctl;
  }
  std::unreachable();
}

}  // namespace faultline::record
