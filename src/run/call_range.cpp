#include "run/call_range.h"

#include <limits>

#include "program/ioctl.h"

namespace faultline::run {
namespace {

using program::Sys;

/// Nothing when the range wraps around: no shape can be taken of that.
std::optional<Range> checked(std::uint64_t start, std::uint64_t bytes) {
  if (bytes == 0 || bytes > std::numeric_limits<std::uint64_t>::max() - start - kPageSize) return std::nullopt;
  return Range{Addr{start}.page_floor(), Addr{page_ceil(start + bytes)}};
}

/// What a request of a userfaultfd works on.
std::optional<Range> range_of_ioctl(const CallRequest& call) {
  const auto request = program::ioctl_numbered(call.arguments[1]);
  if (!request || request->name == "UFFDIO_API") return std::nullopt;
  const bool copies = request->name == "UFFDIO_COPY";
  return checked(call.arguments[2], call.arguments[copies ? 4 : 3]);
}

}  // namespace

std::optional<Range> range_before(const CallRequest& call) {
  switch (call.sys) {
    case Sys::mmap:
      if (call.arguments[0] == 0) return std::nullopt;
      return checked(call.arguments[0], call.arguments[1]);
    case Sys::munmap:
    case Sys::mprotect:
    case Sys::pkey_mprotect:
    case Sys::madvise:
    case Sys::mremap:
    case Sys::mseal:
    case Sys::mlock:
    case Sys::mlock2:
    case Sys::munlock:
    case Sys::msync:
    case Sys::mincore:
    case Sys::change_prot_numa:
      return checked(call.arguments[0], call.arguments[1]);
    case Sys::read:
    case Sys::write:
      return checked(call.arguments[1], call.arguments[2]);
    case Sys::pipe2:
      return checked(call.arguments[0], 8);  // two descriptors of four bytes
    case Sys::ioctl:
      return range_of_ioctl(call);
    default:
      return std::nullopt;
  }
}

std::optional<Range> range_after(const CallRequest& call, const CallOutcome& outcome) {
  if (!outcome.error && call.sys == Sys::mmap) return checked(outcome.value, call.arguments[1]);
  if (!outcome.error && call.sys == Sys::mremap) return checked(outcome.value, call.arguments[2]);
  return range_before(call);
}

std::optional<Range> range_of(const AccessRequest& access) {
  if (access.count == 0) return std::nullopt;
  if (access.count - 1 > (std::numeric_limits<std::uint64_t>::max() - access.address.value) / access.stride) {
    return std::nullopt;
  }
  return checked(access.address.value, (access.count - 1) * access.stride + 1);
}

}  // namespace faultline::run
