#include "check/expected_cells.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "check/vocabulary.h"
#include "mm/trace.h"

namespace faultline::check {
namespace {

using program::Sys;
using run::StepKind;

/// What an operation can give, whatever its argument: names with spaces between them. From sections C and D of
/// docs/kernel-semantics.md; the kinds of faults from A.6.
struct Outcomes {
  std::string_view operation;
  std::string_view outcomes;
};
constexpr auto kOutcomes = std::to_array<Outcomes>({
    {"mmap", "ok EBADF EINVAL ENOMEM EEXIST EPERM EAGAIN EOPNOTSUPP EACCES"},
    {"munmap", "ok EINVAL EPERM"},
    {"mprotect", "ok EINVAL ENOMEM EACCES EPERM"},
    {"pkey_mprotect", "ok EINVAL ENOMEM EACCES EPERM ENOSYS"},
    {"pkey_alloc", "ok EINVAL ENOSPC ENOSYS"},
    {"pkey_free", "ok EINVAL ENOSYS"},
    {"pkey_set", "ok EINVAL ENOSYS"},
    {"pkey_get", "ok EINVAL ENOSYS"},
    {"madvise", "ok EINVAL ENOMEM EPERM"},
    {"mremap", "ok EINVAL EFAULT ENOMEM EPERM EAGAIN"},
    {"mseal", "ok EINVAL ENOMEM ENOSYS"},
    {"mlock", "ok ENOMEM EPERM EINVAL"},
    {"mlock2", "ok ENOMEM EPERM EINVAL"},
    {"munlock", "ok ENOMEM EINVAL"},
    {"mlockall", "ok EINVAL ENOMEM EPERM"},
    {"munlockall", "ok"},
    {"msync", "ok EINVAL ENOMEM EBUSY"},
    {"mincore", "ok EINVAL ENOMEM EFAULT"},
    {"memfd_create", "ok EINVAL"},
    {"ftruncate", "ok EINVAL EBADF EPERM"},
    {"read", "ok EBADF EFAULT"},
    {"write", "ok EBADF EFAULT EPERM"},
    {"lseek", "ok EBADF EINVAL"},
    {"fcntl", "ok EBADF EINVAL EPERM EBUSY"},
    {"close", "ok EBADF"},
    {"prctl", "ok EINVAL EPERM"},
    {"prlimit64", "ok EFAULT EPERM"},
    {"userfaultfd", "ok EPERM EINVAL"},
    {"ioctl", "ok EBADF EINVAL"},
    {"clear_refs", "ok EINVAL"},
    {"load", "ok SEGV_MAPERR SEGV_ACCERR SEGV_PKUERR BUS_ADRERR fault_read fault_file fault_guard fault_signal"},
    {"store",
     "ok SEGV_MAPERR SEGV_ACCERR SEGV_PKUERR BUS_ADRERR fault_write fault_copy fault_reuse fault_file fault_guard "
     "fault_signal"},
    {"atomic",
     "ok SEGV_MAPERR SEGV_ACCERR SEGV_PKUERR BUS_ADRERR fault_write fault_copy fault_reuse fault_file fault_guard "
     "fault_signal"},
    {"fetch", "ok SEGV_MAPERR SEGV_ACCERR BUS_ADRERR fault_read fault_file fault_guard fault_signal"},
    {"code", "ok SEGV_MAPERR SEGV_ACCERR SEGV_PKUERR BUS_ADRERR"},
    {"child", "ok"},
    {"exit", "ok"},
    {"for", "ok"},
});

/// What depends on the argument (D.7).
struct ArgumentOutcomes {
  std::string_view operation;
  std::string_view argument;
  std::string_view outcomes;
};
constexpr auto kArgumentOutcomes = std::to_array<ArgumentOutcomes>({
    {"madvise", "MADV_DONTNEED", "EINVAL ENOMEM EPERM"},
    {"madvise", "MADV_FREE", "EINVAL ENOMEM EPERM"},
    {"madvise", "MADV_REMOVE", "EINVAL EACCES EPERM ENOMEM"},
    {"madvise", "MADV_DONTFORK", "EPERM ENOMEM"},
    {"madvise", "MADV_WIPEONFORK", "EINVAL EPERM ENOMEM"},
    {"madvise", "MADV_COLD", "EINVAL ENOMEM"},
    {"madvise", "MADV_POPULATE_READ", "EINVAL ENOMEM EFAULT"},
    {"madvise", "MADV_POPULATE_WRITE", "EINVAL ENOMEM EFAULT"},
    {"madvise", "MADV_DONTNEED_LOCKED", "ENOMEM EPERM"},
    {"madvise", "MADV_COLLAPSE", "EINVAL ENOMEM"},
    {"madvise", "MADV_GUARD_INSTALL", "EINVAL ENOMEM EPERM"},
    {"madvise", "MADV_GUARD_REMOVE", "ENOMEM"},
    {"madvise", "77", "EINVAL"},
    {"mprotect", "PROT_GROWSDOWN", "EINVAL ENOMEM"},
    {"mprotect", "PROT_READ|PROT_GROWSUP", "EINVAL ENOMEM"},
    {"mprotect", "PROT_GROWSDOWN|PROT_GROWSUP", "EINVAL"},
    {"mprotect", "0x100", "EINVAL"},
    {"mprotect", "PROT_READ|PROT_SEM", "ok"},
    {"mmap", "MAP_ANONYMOUS|MAP_FIXED", "EINVAL"},
    {"mmap", "MAP_SHARED_VALIDATE|MAP_ANONYMOUS|MAP_FIXED", "EINVAL"},
    {"mmap", "MAP_SHARED_VALIDATE|MAP_FIXED|0x800000", "EOPNOTSUPP EBADF"},
    {"mremap", "MREMAP_FIXED", "EINVAL"},
    {"mremap", "MREMAP_DONTUNMAP", "EINVAL"},
    {"mremap", "MREMAP_MAYMOVE|0x8", "EINVAL"},
    {"msync", "MS_ASYNC|MS_SYNC", "EINVAL"},
    {"msync", "8", "EINVAL"},
    {"mlockall", "MCL_ONFAULT", "EINVAL"},
    {"mlockall", "0", "EINVAL"},
    {"memfd_create", "0x100", "EINVAL"},
    {"fcntl", "0x80", "EINVAL"},
    {"ioctl", "UFFDIO_API", "ok EINVAL"},
    {"ioctl", "UFFDIO_REGISTER", "ok EINVAL"},
    {"ioctl", "UFFDIO_UNREGISTER", "ok EINVAL"},
    {"ioctl", "UFFDIO_WAKE", "ok EINVAL"},
    {"ioctl", "UFFDIO_COPY", "ok EINVAL ENOENT EEXIST EAGAIN EFAULT"},
    {"ioctl", "UFFDIO_ZEROPAGE", "ok EINVAL ENOENT EEXIST EAGAIN"},
    {"ioctl", "UFFDIO_WRITEPROTECT", "ok EINVAL ENOENT"},
});

void add_each(std::vector<Cell>& cells, std::string_view operation, std::string_view argument,
              std::string_view outcomes) {
  while (!outcomes.empty()) {
    const std::size_t end = std::min(outcomes.find(' '), outcomes.size());
    cells.push_back({std::string(operation), std::string(argument), std::string(outcomes.substr(0, end))});
    outcomes.remove_prefix(std::min(end + 1, outcomes.size()));
  }
}

bool listed(std::string_view operation, std::string_view argument) {
  return std::ranges::any_of(kArgumentOutcomes, [&](const ArgumentOutcomes& one) {
    return one.operation == operation && one.argument == argument && !one.outcomes.starts_with("ok") &&
           (operation != "madvise" || argument == "77");
  });
}

/// Every argument that is drawn goes well now and then, but for those that never do.
void add_arguments(std::vector<Cell>& cells, std::string_view operation, std::span<const Named> arguments) {
  for (const Named& argument : arguments) {
    if (!listed(operation, argument.name)) add_each(cells, operation, argument.name, "ok");
  }
}

/// Where the argument stands that decides most.
std::optional<std::size_t> deciding_index(Sys sys) {
  switch (sys) {
    case Sys::mmap:
    case Sys::mremap:
      return 3;
    case Sys::mprotect:
    case Sys::madvise:
    case Sys::msync:
    case Sys::fcntl:
      return 2;
    case Sys::memfd_create:
    case Sys::prlimit64:
    case Sys::ioctl:
      return 1;
    case Sys::mlockall:
    case Sys::prctl:
      return 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string operation_name(const Operation& operation) {
  const std::string text = text_of(operation);
  return text.substr(0, text.find_first_of("( "));
}

std::string deciding_argument(const Operation& operation) {
  if (operation.step.kind != StepKind::call) return "";
  const auto index = deciding_index(operation.step.sys);
  return index ? std::string(operation.names[*index]) : "";
}

std::vector<Cell> expected_cells() {
  std::vector<Cell> cells;
  for (const Outcomes& one : kOutcomes) add_each(cells, one.operation, "", one.outcomes);
  for (const ArgumentOutcomes& one : kArgumentOutcomes) add_each(cells, one.operation, one.argument, one.outcomes);
  add_arguments(cells, "mprotect", protections());
  add_arguments(cells, "mmap", anonymous_flags());
  add_arguments(cells, "mmap", file_flags());
  add_arguments(cells, "madvise", advice());
  add_arguments(cells, "mremap", remap_flags());
  add_arguments(cells, "msync", sync_flags());
  add_arguments(cells, "mlockall", lock_all_flags());
  add_arguments(cells, "memfd_create", memfd_flags());
  add_arguments(cells, "fcntl", file_seals());
  add_arguments(cells, "prlimit64", resources());
  for (auto rule = std::to_underlying(mm::Rule::none) + 1; rule <= std::to_underlying(mm::Rule::bad_argument); ++rule) {
    cells.push_back({"rule", "", std::string(mm::rule_text(static_cast<mm::Rule>(rule)))});
  }
  std::ranges::sort(cells);
  const auto twice = std::ranges::unique(cells);
  cells.erase(twice.begin(), twice.end());
  return cells;
}

}  // namespace faultline::check
