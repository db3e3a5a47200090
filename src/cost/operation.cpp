#include "cost/operation.h"

#include <algorithm>
#include <array>

#include "base/flags.h"

namespace faultline::cost {
namespace {

using program::Sys;

constexpr auto kNames = std::to_array<std::string_view>({
    "access",
    "mmap",
    "mmap(MAP_SHARED|MAP_ANONYMOUS)",
    "mmap of a file",
    "munmap",
    "mprotect",
    "madvise of flags",
    "madvise(MADV_DONTNEED)",
    "madvise(MADV_FREE)",
    "madvise(MADV_WILLNEED)",
    "madvise(MADV_POPULATE_READ)",
    "madvise(MADV_POPULATE_WRITE)",
    "madvise(MADV_GUARD_INSTALL)",
    "madvise(MADV_GUARD_REMOVE)",
    "mremap",
    "mlock",
    "mlock2(MLOCK_ONFAULT)",
    "munlock",
    "mseal",
    "msync",
    "mincore",
    "brk",
    "getppid",
});
static_assert(kNames.size() == kOperations);

std::optional<Operation> operation_of(Advice advice) {
  switch (advice) {
    case Advice::normal:
    case Advice::random:
    case Advice::sequential:
    case Advice::dontfork:
    case Advice::dofork:
    case Advice::dontdump:
    case Advice::dodump:
    case Advice::wipeonfork:
    case Advice::keeponfork:
    case Advice::hugepage:
    case Advice::nohugepage:
      return Operation::madvise_flags;
    case Advice::dontneed:
      return Operation::madvise_dontneed;
    case Advice::free:
      return Operation::madvise_free;
    case Advice::willneed:
      return Operation::madvise_willneed;
    case Advice::populate_read:
      return Operation::madvise_populate_read;
    case Advice::populate_write:
      return Operation::madvise_populate_write;
    case Advice::guard_install:
      return Operation::madvise_guard_install;
    case Advice::guard_remove:
      return Operation::madvise_guard_remove;
    default:
      return std::nullopt;
  }
}

Operation operation_of(MapFlags flags) {
  if (!has(flags, MapFlags::anonymous)) return Operation::mmap_file;
  return (flags & MapFlags::type_mask) == MapFlags::private_ ? Operation::mmap : Operation::mmap_shared;
}

}  // namespace

std::string_view operation_name(Operation operation) { return kNames[std::to_underlying(operation)]; }

std::optional<Operation> operation_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Operation>(found - kNames.begin());
}

std::optional<Operation> operation_of(Sys sys, std::span<const std::uint64_t> arguments) {
  const auto argument = [&](std::size_t i) { return i < arguments.size() ? arguments[i] : 0; };
  switch (sys) {
    case Sys::mmap:
      return operation_of(static_cast<MapFlags>(argument(3)));
    case Sys::munmap:
      return Operation::munmap;
    case Sys::mprotect:
      return Operation::mprotect;
    case Sys::madvise:
      return operation_of(static_cast<Advice>(argument(2)));
    case Sys::mremap:
      return Operation::mremap;
    case Sys::mlock:
      return Operation::mlock;
    case Sys::mlock2:
      return argument(2) == 0 ? Operation::mlock : Operation::mlock_onfault;
    case Sys::munlock:
      return Operation::munlock;
    case Sys::mseal:
      return Operation::mseal;
    case Sys::msync:
      return Operation::msync;
    case Sys::mincore:
      return Operation::mincore;
    case Sys::brk:
      return Operation::brk;
    case Sys::getppid:
      return Operation::getppid;
    default:
      return std::nullopt;
  }
}

}  // namespace faultline::cost
