#include "machine/file_calls.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "machine/io_uring.h"
#include "machine/text_argument.h"
#include "machine/userfaultfd_calls.h"
#include "mm/file_io.h"

namespace faultline::machine {
namespace {

using mm::FileMode;
using program::Sys;

constexpr std::uint64_t kAccessMode = 3;  // O_ACCMODE
constexpr std::uint64_t kTruncate = 01000;
constexpr std::uint64_t kNonblock = 04000;
constexpr std::uint64_t kCloseOnExec = 02000000;
constexpr std::uint64_t kAddSeals = 1033;  // F_ADD_SEALS
constexpr std::uint64_t kGetSeals = 1034;
constexpr std::uint64_t kSeekCurrent = 1;  // 0 is SEEK_SET
constexpr std::uint64_t kSeekEnd = 2;

/// The descriptor that "/proc/self/fd/3" names.
std::optional<std::uint64_t> descriptor_of(std::string_view path) {
  constexpr std::string_view kFolder = "/proc/self/fd/";
  if (!path.starts_with(kFolder)) return std::nullopt;
  std::uint64_t fd = 0;
  const char* end = path.data() + path.size();
  const auto [stopped, error] = std::from_chars(path.data() + kFolder.size(), end, fd);
  return error == std::errc{} && stopped == end ? std::optional(fd) : std::nullopt;
}

/// What a call that gives nothing back returns.
Result<std::uint64_t> zero_if(const Result<void>& done) {
  if (!done) return std::unexpected(done.error());
  return 0;
}

FileMode mode_of(std::uint64_t flags) {
  switch (flags & kAccessMode) {
    case 0:
      return FileMode::read;
    case 1:
      return FileMode::write;
    default:
      return FileMode::read | FileMode::write;
  }
}

/// Of an open that is supported.
std::string_view path_of(const run::CallRequest& call) { return reinterpret_cast<const char*>(call.arguments[0]); }

std::optional<std::string> unsupported_open(const Descriptors& descriptors, const run::CallRequest& call) {
  if (!is_string(call, 0)) return "an open of a path that is not written as a string";
  const std::string_view path = path_of(call);
  const std::uint64_t flags = call.arguments[1];
  constexpr std::uint64_t kKnown = kAccessMode | kTruncate | kCloseOnExec;
  const auto fd = descriptor_of(path);
  if (!fd && path != "/dev/zero") return "an open of anything but /dev/zero and /proc/self/fd/N";
  const OpenFile* open = fd ? descriptors.find(*fd) : nullptr;
  if (open != nullptr && std::holds_alternative<PipeEnd>(*open)) return "an open of a pipe";
  if (open != nullptr && std::holds_alternative<Watcher>(*open)) return "an open of a userfaultfd";
  if (open != nullptr && std::holds_alternative<IoUring>(*open)) return "an open of an io_uring";
  if ((flags & ~kKnown) != 0) return "an open with other flags than O_TRUNC and O_CLOEXEC";
  return std::nullopt;
}

bool is_userfaultfd(const OpenFile* open) { return open != nullptr && std::holds_alternative<Watcher>(*open); }

std::optional<std::string> unsupported_transfer(const OpenFile* open, const run::CallRequest& call) {
  if (is_userfaultfd(open)) return "a read or write of a userfaultfd";
  const PipeEnd* end = open == nullptr ? nullptr : std::get_if<PipeEnd>(open);
  if (end == nullptr) return std::nullopt;
  const std::uint64_t length = std::min(call.arguments[2], mm::kMostBytesPerCall);
  const bool reads = call.sys == Sys::read;
  if (!has(end->mode, reads ? FileMode::read : FileMode::write)) return std::nullopt;
  if (reads) return end->pipe->read_waits(length) ? std::optional("a read that waits") : std::nullopt;
  if (end->pipe->reader.expired()) return "a write to a pipe that nobody reads";
  return end->pipe->write_waits(length) ? std::optional("a write that waits") : std::nullopt;
}

}  // namespace

std::optional<std::string> FileCalls::unsupported(const mm::Profile& profile, const run::CallRequest& call) const {
  const auto& a = call.arguments;
  switch (call.sys) {
    case Sys::mmap: {
      if (has(static_cast<MapFlags>(a[3]), MapFlags::anonymous)) return std::nullopt;
      const OpenFile* open = descriptors_.find(a[4]);
      if (open != nullptr && !std::holds_alternative<Memfd>(*open)) return "an mmap of anything but a memfd";
      return std::nullopt;
    }
    case Sys::open:
      return unsupported_open(descriptors_, call);
    case Sys::memfd_create:
      if (has(static_cast<mm::MemfdFlags>(a[1]), mm::MemfdFlags::hugetlb)) return "a memfd with MFD_HUGETLB";
      return std::nullopt;
    case Sys::pipe2:
      if ((a[1] & ~(kNonblock | kCloseOnExec)) != 0) return std::nullopt;  // EINVAL
      return (a[1] & kNonblock) != 0 ? std::optional("a pipe with O_NONBLOCK") : std::nullopt;
    case Sys::read:
    case Sys::write:
      return unsupported_transfer(descriptors_.find(a[0]), call);
    case Sys::ioctl:
      return unsupported_ioctl(profile, descriptors_, call);
    case Sys::fcntl:
      if (is_userfaultfd(descriptors_.find(a[0]))) return "an fcntl of a userfaultfd";
      if (a[1] == kAddSeals || a[1] == kGetSeals) return std::nullopt;
      return "an fcntl other than F_ADD_SEALS and F_GET_SEALS";
    case Sys::io_uring_register:
      return unsupported_register(call);
    case Sys::lseek:
      if (is_userfaultfd(descriptors_.find(a[0]))) return "an lseek of a userfaultfd";
      return a[2] <= kSeekEnd ? std::nullopt : std::optional("an lseek to data or holes");
    default:
      return std::nullopt;
  }
}

std::optional<Result<std::uint64_t>> FileCalls::call(mm::AddressSpace& space, const run::CallRequest& call) {
  const auto& a = call.arguments;
  switch (call.sys) {
    case Sys::open:
      return open(space, path_of(call), a[1]);
    case Sys::close:
      return zero_if(descriptors_.close(a[0]));
    case Sys::memfd_create: {
      constexpr std::size_t kLongestName = 249;  // NAME_MAX without "memfd:"
      const auto created = mm::memfd_create(space.system(), static_cast<mm::MemfdFlags>(a[1]));
      if (!created) return std::unexpected(created.error());
      if (const auto name = text_argument(space, call, 0, kLongestName + 1); !name)
        return std::unexpected(name.error());
      return descriptors_.install(Memfd{*created});
    }
    case Sys::pipe2:
      return pipe(space, Addr{a[0]}, a[1]);
    case Sys::read:
    case Sys::write:
      return transfer(space, call);
    case Sys::ftruncate:
      return truncate(space, a[0], a[1]);
    case Sys::io_uring_setup:
      return io_uring_setup(space, descriptors_, a[0], Addr{a[1]});
    case Sys::io_uring_register:
      return io_uring_register(space, descriptors_.find(a[0]), call);
    case Sys::lseek:
      return seek(a[0], a[1], a[2]);
    case Sys::userfaultfd:
      return open_userfaultfd(space, descriptors_, a[0]);
    case Sys::ioctl:
      return userfaultfd_ioctl(space, descriptors_, call);
    case Sys::fcntl:
      return control(space, a[0], a[1], a[2]);
    default:
      return std::nullopt;
  }
}

Result<std::uint64_t> FileCalls::open(mm::AddressSpace& space, std::string_view path, std::uint64_t flags) {
  const FileMode mode = mode_of(flags);
  const auto named = descriptor_of(path);
  if (!named) return descriptors_.install(Zeros{mode});
  const OpenFile* existing = descriptors_.find(*named);
  if (existing == nullptr) return fail(ENOENT);
  const Memfd* memfd = std::get_if<Memfd>(existing);
  if (memfd == nullptr) return descriptors_.install(Zeros{mode});
  const mm::File file{memfd->file.object, mode};
  if ((flags & kTruncate) != 0) {
    // Whoever may write the file may truncate it, even by a descriptor that is only for reading.
    const auto cut = space.ftruncate({file.object, FileMode::write}, 0);
    if (!cut) return std::unexpected(cut.error());
  }
  return descriptors_.install(Memfd{file});
}

Result<std::uint64_t> FileCalls::pipe(mm::AddressSpace& space, Addr out, std::uint64_t flags) {
  if ((flags & ~(kNonblock | kCloseOnExec)) != 0) return fail(EINVAL);
  const auto pipe = std::make_shared<Pipe>();
  std::array<std::uint8_t, 8> numbers{};
  std::array<std::uint64_t, 2> ends{};
  for (const FileMode mode : {FileMode::read, FileMode::write}) {
    const std::size_t i = mode == FileMode::read ? 0 : 1;
    const auto alive = std::make_shared<char>();
    (mode == FileMode::read ? pipe->reader : pipe->writer) = alive;
    const auto fd = descriptors_.install(PipeEnd{pipe, mode, alive});
    if (!fd) {
      if (i == 1) static_cast<void>(descriptors_.close(ends[0]));
      return fd;
    }
    ends[i] = *fd;
    for (std::size_t byte = 0; byte < 4; ++byte) numbers[4 * i + byte] = static_cast<std::uint8_t>(*fd >> (8 * byte));
  }
  if (space.copy_to_user(out, numbers) == numbers.size()) return 0;
  for (const std::uint64_t fd : ends) static_cast<void>(descriptors_.close(fd));
  return fail(EFAULT);
}

Result<std::uint64_t> FileCalls::transfer(mm::AddressSpace& space, const run::CallRequest& call) {
  OpenFile* open = descriptors_.find(call.arguments[0]);
  if (open == nullptr) return fail(EBADF);
  const Addr buffer{call.arguments[1]};
  const std::uint64_t length = call.arguments[2];
  const bool reads = call.sys == Sys::read;
  if (auto* memfd = std::get_if<Memfd>(open)) {
    const auto done = reads ? mm::read_file(space, memfd->file, memfd->position, buffer, length)
                            : mm::write_file(space, memfd->file, memfd->position, buffer, length);
    if (done) memfd->position += *done;
    return done;
  }
  if (std::holds_alternative<IoUring>(*open)) return fail(EINVAL);
  const auto* end = std::get_if<PipeEnd>(open);
  const FileMode mode = end != nullptr ? end->mode : std::get<Zeros>(*open).mode;
  if (!has(mode, reads ? FileMode::read : FileMode::write)) return fail(EBADF);
  if (auto fine = mm::check_buffer(space, buffer, length); !fine) return std::unexpected(fine.error());
  const std::uint64_t most = std::min(length, mm::kMostBytesPerCall);
  if (end != nullptr) return reads ? end->pipe->read(space, buffer, most) : end->pipe->write(space, buffer, most);
  if (!reads) return most;  // /dev/zero takes anything without a look
  const std::uint64_t done = space.clear_user(buffer, most);
  if (done == 0 && most != 0) return fail(EFAULT);
  return done;
}

Result<std::uint64_t> FileCalls::seek(std::uint64_t fd, std::uint64_t offset, std::uint64_t whence) {
  OpenFile* open = descriptors_.find(fd);
  if (open == nullptr) return fail(EBADF);
  if (std::holds_alternative<PipeEnd>(*open) || std::holds_alternative<IoUring>(*open)) return fail(ESPIPE);
  auto* memfd = std::get_if<Memfd>(open);
  if (memfd == nullptr) return 0;  // /dev/zero has no position
  std::uint64_t base = 0;
  if (whence == kSeekCurrent) base = memfd->position;
  if (whence == kSeekEnd) base = memfd->file.object->size();
  const std::uint64_t target = base + offset;
  if (target > mm::kLargestFile) return fail(EINVAL);
  return memfd->position = target;
}

Result<std::uint64_t> FileCalls::control(mm::AddressSpace& space, std::uint64_t fd, std::uint64_t command,
                                         std::uint64_t argument) {
  if (descriptors_.find(fd) == nullptr) return fail(EBADF);
  const mm::File* file = descriptors_.find_memfd(fd);
  if (command == kGetSeals) {
    if (file == nullptr) return fail(EINVAL);
    return std::to_underlying(file->object->seals());
  }
  if (file == nullptr) {
    // Without write permission the call does not get as far as to see what it is.
    const auto* end = std::get_if<PipeEnd>(descriptors_.find(fd));
    const auto* zeros = std::get_if<Zeros>(descriptors_.find(fd));
    const FileMode both = FileMode::read | FileMode::write;
    const FileMode mode = end != nullptr ? end->mode : zeros != nullptr ? zeros->mode : both;
    return fail(has(mode, FileMode::write) ? EINVAL : EPERM);
  }
  return zero_if(mm::add_seals(space.system(), *file, static_cast<mm::FileSeals>(argument)));
}

Result<std::uint64_t> FileCalls::truncate(mm::AddressSpace& space, std::uint64_t fd, std::uint64_t length) {
  if (length > mm::kLargestFile) return fail(EINVAL);
  if (descriptors_.find(fd) == nullptr) return fail(EBADF);
  const mm::File* file = descriptors_.find_memfd(fd);
  if (file == nullptr) return fail(EINVAL);
  return zero_if(space.ftruncate(*file, length));
}

}  // namespace faultline::machine
