#include "machine/process_calls.h"

#include <algorithm>
#include <array>
#include <utility>

#include "machine/text_argument.h"

namespace faultline::machine {
namespace {

using program::Sys;

constexpr std::uint64_t kSetMdwe = 65;
constexpr std::uint64_t kGetMdwe = 66;
constexpr std::uint64_t kSetVma = 0x53564d41;
constexpr std::uint64_t kResources = 16;  // RLIM_NLIMITS

bool all_zero(const run::CallRequest& call, std::size_t first) {
  return std::all_of(call.arguments.begin() + static_cast<std::ptrdiff_t>(first), call.arguments.begin() + 5,
                     [](std::uint64_t argument) { return argument == 0; });
}

/// The kernel takes an option, a pid and a resource as 32 bits.
std::uint32_t word(std::uint64_t argument) { return static_cast<std::uint32_t>(argument); }

bool knows(std::uint32_t resource) {
  using mm::Resource;
  const auto asked = static_cast<Resource>(resource);
  return asked == Resource::data || asked == Resource::memlock || asked == Resource::address_space ||
         asked == Resource::stack;
}

/// PR_SET_VMA, whose only attribute is the name.
Result<std::uint64_t> set_vma(mm::AddressSpace& space, const run::CallRequest& call) {
  constexpr std::uint64_t kAnonName = 0;
  const auto& a = call.arguments;
  if (space.profile().vma_naming == mm::VmaNaming::absent || a[1] != kAnonName) return fail(EINVAL);
  std::optional<std::string> name;
  if (a[4] != 0) {
    constexpr std::size_t kLongest = 80;  // ANON_VMA_NAME_MAX_LEN
    auto text = text_argument(space, call, 4, kLongest);
    if (!text) return std::unexpected(text.error());
    name = std::move(*text);
  }
  const auto set = space.set_vma_name(Addr{a[2]}, a[3], name);
  if (!set) return std::unexpected(set.error());
  return 0;
}

/// A struct rlimit64 in user memory: soft, hard.
using RawLimit = std::array<std::uint64_t, 2>;
std::span<std::uint8_t> bytes_of(RawLimit& limit) {
  return {reinterpret_cast<std::uint8_t*>(limit.data()), sizeof limit};
}

Result<std::uint64_t> mdwe(mm::AddressSpace& space, const run::CallRequest& call) {
  const bool absent = space.profile().mdwe == mm::Mdwe::absent;
  const bool sets = word(call.arguments[0]) == kSetMdwe;
  if (absent || !all_zero(call, sets ? 2 : 1)) return fail(EINVAL);
  if (!sets) return std::to_underlying(space.mdwe());
  const auto set = space.set_mdwe(static_cast<mm::DenyWriteExec>(call.arguments[1]));
  if (!set) return std::unexpected(set.error());
  return 0;
}

Result<std::uint64_t> limits(mm::AddressSpace& space, const run::CallRequest& call) {
  const Addr from{call.arguments[2]};
  const Addr to{call.arguments[3]};
  RawLimit wanted{};
  if (from.value != 0 && space.copy_from_user(bytes_of(wanted), from) < sizeof wanted) return fail(EFAULT);
  if (word(call.arguments[1]) >= kResources) return fail(EINVAL);
  const auto resource = static_cast<mm::Resource>(word(call.arguments[1]));
  const mm::Limit before = space.limit(resource);
  if (from.value != 0) {
    const auto set = space.set_limit(resource, {wanted[0], wanted[1]});
    if (!set) return std::unexpected(set.error());
  }
  RawLimit answer{before.soft, before.hard};
  if (to.value != 0 && space.copy_to_user(to, bytes_of(answer)) < sizeof answer) return fail(EFAULT);
  return 0;
}

}  // namespace

std::optional<std::string> unsupported_process_call(const run::CallRequest& call) {
  if (call.sys == Sys::prctl) {
    const std::uint32_t option = word(call.arguments[0]);
    if (option != kSetMdwe && option != kGetMdwe && option != kSetVma) {
      return "a prctl other than PR_SET_MDWE, PR_GET_MDWE and PR_SET_VMA";
    }
  }
  if (call.sys == Sys::prlimit64) {
    if (word(call.arguments[0]) != 0) return "a prlimit64 of another process";
    const std::uint32_t resource = word(call.arguments[1]);
    if (resource < kResources && !knows(resource)) {
      return "a prlimit64 of anything but RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK and RLIMIT_STACK";
    }
  }
  return std::nullopt;
}

std::optional<Result<std::uint64_t>> process_call(mm::AddressSpace& space, const run::CallRequest& call) {
  switch (call.sys) {
    case Sys::prctl:
      return word(call.arguments[0]) == kSetVma ? set_vma(space, call) : mdwe(space, call);
    case Sys::prlimit64:
      return limits(space, call);
    default:
      return std::nullopt;
  }
}

}  // namespace faultline::machine
