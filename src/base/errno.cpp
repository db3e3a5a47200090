#include "base/errno.h"

#include <array>
#include <utility>

namespace faultline {
namespace {

constexpr auto kNames = std::to_array<std::pair<int, std::string_view>>({
    {EPERM, "EPERM"},
    {ENOENT, "ENOENT"},
    {ESRCH, "ESRCH"},
    {EINTR, "EINTR"},
    {EIO, "EIO"},
    {ENXIO, "ENXIO"},
    {E2BIG, "E2BIG"},
    {ENOEXEC, "ENOEXEC"},
    {EBADF, "EBADF"},
    {ECHILD, "ECHILD"},
    {EAGAIN, "EAGAIN"},
    {ENOMEM, "ENOMEM"},
    {EACCES, "EACCES"},
    {EFAULT, "EFAULT"},
    {ENOTBLK, "ENOTBLK"},
    {EBUSY, "EBUSY"},
    {EEXIST, "EEXIST"},
    {EXDEV, "EXDEV"},
    {ENODEV, "ENODEV"},
    {ENOTDIR, "ENOTDIR"},
    {EISDIR, "EISDIR"},
    {EINVAL, "EINVAL"},
    {ENFILE, "ENFILE"},
    {EMFILE, "EMFILE"},
    {ENOTTY, "ENOTTY"},
    {ETXTBSY, "ETXTBSY"},
    {EFBIG, "EFBIG"},
    {ENOSPC, "ENOSPC"},
    {ESPIPE, "ESPIPE"},
    {EROFS, "EROFS"},
    {EMLINK, "EMLINK"},
    {EPIPE, "EPIPE"},
    {EDOM, "EDOM"},
    {ERANGE, "ERANGE"},
    {ENAMETOOLONG, "ENAMETOOLONG"},
    {ENOSYS, "ENOSYS"},
    {EOVERFLOW, "EOVERFLOW"},
    {EOPNOTSUPP, "EOPNOTSUPP"},
    {EHWPOISON, "EHWPOISON"},
});

}  // namespace

std::string_view errno_name(Errno error) {
  for (const auto& [number, name] : kNames) {
    if (number == error.value) return name;
  }
  return "E?";
}

std::optional<Errno> errno_named(std::string_view name) {
  for (const auto& [number, known] : kNames) {
    if (known == name) return Errno{number};
  }
  return std::nullopt;
}

}  // namespace faultline
