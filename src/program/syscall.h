#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace faultline::program {

/// The system calls of the language, each named as strace(1) prints it.
enum class Sys : std::uint8_t {
  mmap,
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
  mincore,
  brk,
  memfd_create,
  ftruncate,
  open,
  close,
  read,
  write,
  lseek,
  pipe2,
  fcntl,
  prlimit64,
  prctl,
  io_uring_setup,
  io_uring_register,
  change_prot_numa,  // no system call: the kernel's own function, which a model alone can be asked for
  getppid,
  userfaultfd,
  ioctl,       // of userfaultfds only (program/ioctl.h)
  clear_refs,  // no system call: a number written to /proc/self/clear_refs, proc_pid_clear_refs(5)
  pkey_alloc,
  pkey_free,
  pkey_set,  // no system calls: the functions of the C library, which read and write a register of the thread
  pkey_get,
  count_,
};

/// How many arguments a call takes, and which of them may be left out at the end (they are then 0).
struct SysSignature {
  Sys sys{};
  std::string_view name;
  std::uint8_t least = 0;
  std::uint8_t most = 0;
  std::string_view parameters = {};  // their names as the manual page gives them: "addr, length, prot"
};

/// The signatures of all calls, ordered as the enum.
std::span<const SysSignature> sys_signatures();
std::string_view sys_name(Sys sys);
std::optional<Sys> sys_named(std::string_view name);

}  // namespace faultline::program
