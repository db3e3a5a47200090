#pragma once

#include <optional>
#include <string>

#include "machine/descriptors.h"
#include "mm/address_space.h"
#include "run/kernel.h"

/// io_uring_setup(2), and of io_uring_register(2) what holds and frees buffers: how an ordinary process has its pages
/// pinned.
namespace faultline::machine {

/// What of io_uring_register is not modelled, if anything.
std::optional<std::string> unsupported_register(const run::CallRequest& call);

Result<std::uint64_t> io_uring_setup(mm::AddressSpace& space, Descriptors& descriptors, std::uint64_t entries,
                                     Addr params);
/// `open` is what the descriptor refers to, nullptr for one that is not open.
Result<std::uint64_t> io_uring_register(mm::AddressSpace& space, OpenFile* open, const run::CallRequest& call);

}  // namespace faultline::machine
