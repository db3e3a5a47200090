#pragma once

#include <optional>
#include <string>

#include "machine/descriptors.h"
#include "mm/address_space.h"
#include "run/kernel.h"

namespace faultline::machine {

/// The system calls of a modelled process that work on its open files. Copied by fork.
class FileCalls {
 public:
  /// What of the call is not modelled, if anything. Nothing for calls that are none of these.
  std::optional<std::string> unsupported(const mm::Profile& profile, const run::CallRequest& call) const;
  /// The outcome, or nothing for a call that is none of these.
  std::optional<Result<std::uint64_t>> call(mm::AddressSpace& space, const run::CallRequest& call);

  /// What mmap maps: nullptr for a descriptor that is not open, and for one that mmap does not know (see unsupported).
  const mm::File* find_memfd(std::uint64_t fd) const { return descriptors_.find_memfd(fd); }

 private:
  Result<std::uint64_t> open(mm::AddressSpace& space, std::string_view path, std::uint64_t flags);
  Result<std::uint64_t> pipe(mm::AddressSpace& space, Addr out, std::uint64_t flags);
  Result<std::uint64_t> transfer(mm::AddressSpace& space, const run::CallRequest& call);
  Result<std::uint64_t> seek(std::uint64_t fd, std::uint64_t offset, std::uint64_t whence);
  Result<std::uint64_t> control(mm::AddressSpace& space, std::uint64_t fd, std::uint64_t command,
                                std::uint64_t argument);
  Result<std::uint64_t> truncate(mm::AddressSpace& space, std::uint64_t fd, std::uint64_t length);

  Descriptors descriptors_;
};

}  // namespace faultline::machine
