#include "program/syscall.h"

#include <algorithm>
#include <array>
#include <utility>

namespace faultline::program {
namespace {

constexpr auto kSignatures = std::to_array<SysSignature>({
    {Sys::mmap, "mmap", 6, 6, "addr, length, prot, flags, fd, offset"},
    {Sys::munmap, "munmap", 2, 2, "addr, length"},
    {Sys::mprotect, "mprotect", 3, 3, "addr, length, prot"},
    {Sys::pkey_mprotect, "pkey_mprotect", 4, 4, "addr, length, prot, pkey"},
    {Sys::madvise, "madvise", 3, 3, "addr, length, advice"},
    {Sys::mremap, "mremap", 4, 5, "old_address, old_size, new_size, flags, new_address"},
    {Sys::mseal, "mseal", 2, 3, "addr, length, flags"},
    {Sys::mlock, "mlock", 2, 2, "addr, length"},
    {Sys::mlock2, "mlock2", 2, 3, "addr, length, flags"},
    {Sys::munlock, "munlock", 2, 2, "addr, length"},
    {Sys::mlockall, "mlockall", 1, 1, "flags"},
    {Sys::munlockall, "munlockall", 0, 0, ""},
    {Sys::msync, "msync", 3, 3, "addr, length, flags"},
    {Sys::mincore, "mincore", 3, 3, "addr, length, vec"},
    {Sys::brk, "brk", 1, 1, "addr"},
    {Sys::memfd_create, "memfd_create", 1, 2, "name, flags"},
    {Sys::ftruncate, "ftruncate", 2, 2, "fd, length"},
    {Sys::open, "open", 2, 3, "pathname, flags, mode"},
    {Sys::close, "close", 1, 1, "fd"},
    {Sys::read, "read", 3, 3, "fd, buf, count"},
    {Sys::write, "write", 3, 3, "fd, buf, count"},
    {Sys::lseek, "lseek", 3, 3, "fd, offset, whence"},
    {Sys::pipe2, "pipe2", 1, 2, "pipefd, flags"},
    {Sys::fcntl, "fcntl", 2, 3, "fd, cmd, arg"},
    {Sys::prlimit64, "prlimit64", 3, 4, "pid, resource, new_limit, old_limit"},
    {Sys::prctl, "prctl", 1, 5, "option, arg2, arg3, arg4, arg5"},
    {Sys::io_uring_setup, "io_uring_setup", 2, 2, "entries, params"},
    {Sys::io_uring_register, "io_uring_register", 4, 4, "fd, opcode, arg, nr_args"},
    {Sys::change_prot_numa, "change_prot_numa", 2, 2, "addr, length"},
    {Sys::getppid, "getppid", 0, 0, ""},
    {Sys::userfaultfd, "userfaultfd", 1, 1, "flags"},
    {Sys::ioctl, "ioctl", 4, 6, "fd, request, field, field, field, field"},
    {Sys::clear_refs, "clear_refs", 1, 1, "number"},
    {Sys::pkey_alloc, "pkey_alloc", 0, 2, "flags, access_rights"},
    {Sys::pkey_free, "pkey_free", 1, 1, "pkey"},
    {Sys::pkey_set, "pkey_set", 2, 2, "pkey, access_rights"},
    {Sys::pkey_get, "pkey_get", 1, 1, "pkey"},
});
static_assert(kSignatures.size() == std::to_underlying(Sys::count_));
static_assert([] {
  for (std::size_t i = 0; i < kSignatures.size(); ++i) {
    if (std::to_underlying(kSignatures[i].sys) != i) return false;
  }
  return true;
}());

}  // namespace

std::span<const SysSignature> sys_signatures() { return kSignatures; }

std::string_view sys_name(Sys sys) { return kSignatures[std::to_underlying(sys)].name; }

std::optional<Sys> sys_named(std::string_view name) {
  const auto found = std::ranges::find(kSignatures, name, &SysSignature::name);
  if (found == kSignatures.end()) return std::nullopt;
  return found->sys;
}

}  // namespace faultline::program
