#pragma once

#include <cstdint>

#include "arch/arch.h"
#include "base/flags.h"

namespace faultline::arch {

/// What the processor finds in a page-table entry. `valid` is the hardware's view: a PROT_NONE entry is not valid.
struct Translation {
  bool valid = false;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool key_denies_reads = false;   // the thread's rights to the page's protection key
  bool key_denies_writes = false;  // what denies reads denies writes too
};

/// What the processor tells the kernel about an access that it could not make.
enum class Report : std::uint8_t {
  granted,  // no fault: the access is made
  read,
  write,
  fetch,
};

/// The check that the processor makes, in the order execute, write, read; and the direction that a fault reports. The
/// architectures differ for an atomic: x86-64 reports a write always; arm64 reports a read where reading would fault
/// too (WnR, B.1).
constexpr Report check_access(Arch arch, AccessKind kind, const Translation& entry) {
  const bool can_read = entry.valid && entry.readable && !entry.key_denies_reads;
  const bool can_write = entry.valid && entry.writable && !entry.key_denies_writes;
  switch (kind) {
    case AccessKind::fetch:
      return entry.valid && entry.executable ? Report::granted : Report::fetch;
    case AccessKind::store:
      return can_write ? Report::granted : Report::write;
    case AccessKind::load:
      return can_read ? Report::granted : Report::read;
    case AccessKind::atomic:
      if (can_read && can_write) return Report::granted;
      return arch == Arch::arm64 && !can_read ? Report::read : Report::write;
  }
  return Report::granted;
}

}  // namespace faultline::arch
