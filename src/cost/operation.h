#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "program/syscall.h"

/// What a kernel's operations cost in instructions, predicted from what the model counts.
namespace faultline::cost {

/// What has a cost of its own: each takes its own way through the kernel.
enum class Operation : std::uint8_t {
  access,  // loads, stores, atomics and fetches: the instruction, and the faults that it takes
  mmap,
  mmap_shared,  // shared anonymous memory, for which the kernel makes a file
  mmap_file,
  munmap,
  mprotect,
  madvise_flags,  // advice that only changes the flags of VMAs
  madvise_dontneed,
  madvise_free,
  madvise_willneed,
  madvise_populate_read,
  madvise_populate_write,
  madvise_guard_install,
  madvise_guard_remove,
  mremap,
  mlock,
  mlock_onfault,
  munlock,
  mseal,
  msync,
  mincore,
  brk,
  getppid,  // nothing but entering and leaving the kernel
  count_,
};
inline constexpr std::size_t kOperations = std::to_underlying(Operation::count_);

/// As it stands in tables and files: "mprotect", "madvise(MADV_DONTNEED)", "access".
std::string_view operation_name(Operation operation);
std::optional<Operation> operation_named(std::string_view name);

/// What a system call with these arguments is; nothing for calls that have no cost here.
std::optional<Operation> operation_of(program::Sys sys, std::span<const std::uint64_t> arguments);

}  // namespace faultline::cost
