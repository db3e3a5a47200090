#include "machine/userfaultfd_calls.h"

#include "program/ioctl.h"

namespace faultline::machine {
namespace {

using mm::UffdFeatures;
using mm::UffdModes;

constexpr UffdFeatures kEvents = UffdFeatures::event_remap | UffdFeatures::event_remove | UffdFeatures::event_unmap;
constexpr UffdFeatures kReadProtection = UffdFeatures::rwp | UffdFeatures::rwp_async;

mm::Userfaultfd* find(const Descriptors& descriptors, std::uint64_t fd) {
  const OpenFile* open = descriptors.find(fd);
  const Watcher* watcher = open == nullptr ? nullptr : std::get_if<Watcher>(open);
  return watcher == nullptr ? nullptr : watcher->get();
}

Result<void> answer(mm::AddressSpace& space, mm::Userfaultfd& uffd, std::string_view request,
                    const run::CallRequest& call) {
  const auto& a = call.arguments;
  const Addr start{a[2]};
  if (request == "UFFDIO_API") return uffd.enable(a[2], static_cast<UffdFeatures>(a[3]));
  if (request == "UFFDIO_REGISTER") return uffd.watch(start, a[3], static_cast<UffdModes>(a[4]));
  if (request == "UFFDIO_UNREGISTER") return uffd.unwatch(start, a[3]);
  if (request == "UFFDIO_WAKE") return uffd.wake(start, a[3]);
  if (request == "UFFDIO_COPY") return uffd.copy(space, start, Addr{a[3]}, a[4], static_cast<mm::UffdFill>(a[5]));
  if (request == "UFFDIO_ZEROPAGE") return uffd.zero_page(start, a[3], static_cast<mm::UffdFill>(a[4]));
  return uffd.write_protect(start, a[3], static_cast<mm::UffdProtect>(a[4]));
}

}  // namespace

std::optional<std::string> unsupported_ioctl(const mm::Profile& profile, const Descriptors& descriptors,
                                             const run::CallRequest& call) {
  if (find(descriptors, call.arguments[0]) == nullptr) return std::nullopt;
  const auto request = program::ioctl_numbered(call.arguments[1]);
  if (!request) return "an ioctl other than those of userfaultfds";
  if (request->name == "UFFDIO_API" && has(static_cast<UffdFeatures>(call.arguments[3]), kEvents)) {
    return "events of a userfaultfd";
  }
  if (request->name == "UFFDIO_API" &&
      has(static_cast<UffdFeatures>(call.arguments[3]) & profile.uffd_features, kReadProtection)) {
    return "the read protection of a userfaultfd";
  }
  const bool knows_minor = has(profile.uffd_features, UffdFeatures::minor_shmem);
  if (request->name == "UFFDIO_REGISTER" && knows_minor &&
      has(static_cast<UffdModes>(call.arguments[4]), UffdModes::minor)) {
    return "UFFDIO_REGISTER_MODE_MINOR";
  }
  return std::nullopt;
}

Result<std::uint64_t> open_userfaultfd(mm::AddressSpace& space, Descriptors& descriptors, std::uint64_t flags) {
  // The kernel takes an int.
  auto made = space.userfaultfd(static_cast<mm::UffdFlags>(static_cast<std::uint32_t>(flags)));
  if (!made) return std::unexpected(made.error());
  return descriptors.install(Watcher(std::move(*made)));
}

Result<std::uint64_t> userfaultfd_ioctl(mm::AddressSpace& space, const Descriptors& descriptors,
                                        const run::CallRequest& call) {
  const std::uint64_t fd = call.arguments[0];
  if (descriptors.find(fd) == nullptr) return fail(EBADF);
  mm::Userfaultfd* const uffd = find(descriptors, fd);
  if (uffd == nullptr) return fail(ENOTTY);
  const auto request = program::ioctl_numbered(call.arguments[1]);
  if (!request) return fail(EINVAL);
  const Result<void> done = answer(space, *uffd, request->name, call);
  if (!done) return std::unexpected(done.error());
  return 0;
}

}  // namespace faultline::machine
