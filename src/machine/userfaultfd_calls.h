#pragma once

#include <optional>
#include <string>

#include "machine/descriptors.h"
#include "mm/address_space.h"
#include "run/kernel.h"

namespace faultline::machine {

/// What of a request to a userfaultfd is not modelled, if anything.
std::optional<std::string> unsupported_ioctl(const mm::Profile& profile, const Descriptors& descriptors,
                                             const run::CallRequest& call);

/// userfaultfd(2): a new descriptor.
Result<std::uint64_t> open_userfaultfd(mm::AddressSpace& space, Descriptors& descriptors, std::uint64_t flags);
/// ioctl_userfaultfd(2), whose arguments are the fields of the struct (program/ioctl.h). ENOTTY for other files.
Result<std::uint64_t> userfaultfd_ioctl(mm::AddressSpace& space, const Descriptors& descriptors,
                                        const run::CallRequest& call);

}  // namespace faultline::machine
