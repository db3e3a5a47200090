#pragma once

#include <expected>
#include <optional>

#include "arch/access.h"
#include "base/signal.h"
#include "mm/mm.h"

namespace faultline::mm {

/// Who met the missing page: the program, the kernel as it copies to or from user memory, or the kernel that populates
/// it for itself (get_user_pages).
enum class FaultOrigin : std::uint8_t {
  exception,
  kernel_copy,
  populate,
  populate_again,  // after a fault that gave mmap_lock up: what is tried again counts as a major fault
};

/// Makes the page at `addr` grant the access, taking whatever faults that needs, as the instruction would: try, fault,
/// try again. Returns the frame, or the signal that the access ended in. `text` is the page that holds the accessing
/// instruction; absent means ordinary readable text.
std::expected<FrameId, Signal> touch(Mm& mm, Addr addr, AccessKind kind, std::optional<Addr> text,
                                     FaultOrigin origin = FaultOrigin::exception);

/// Would an access of the kernel be granted with page faults disabled? If not, that exception is counted.
bool granted_at_once(Mm& mm, Addr addr, AccessKind kind);

enum class Handled : std::uint8_t {
  done,        // the access may be tried again
  guarded,     // a guard region: VM_FAULT_SIGSEGV
  unanswered,  // a userfaultfd watches the page, and no handler is waited for: VM_FAULT_SIGBUS
  no_page,     // the mapped object has none there: VM_FAULT_SIGBUS
};

/// Resolves a permitted fault in a VMA (handle_mm_fault): maps, copies or reuses, and counts the kind.
Handled resolve(Mm& mm, Vma& vma, Addr addr, arch::Report access, FaultOrigin origin);

/// The part of resolve() for an empty entry of a mapping with an object.
enum class Direction : std::uint8_t { read, write };
Handled resolve_file(Mm& mm, Vma& vma, Addr addr, Direction direction, FaultOrigin origin);

/// The part of resolve() for a write to a shared page that is mapped read-only because its writes are watched.
Handled resolve_write_notify(Mm& mm, Addr addr, Pte pte, FaultOrigin origin);

/// Maps a frame, whose one reference is handed over, as an anonymous page that this VMA owns alone.
void map_owned(Mm& mm, const Vma& vma, Addr addr, FrameId frame);
/// Counts a fault of this kind over the range that it mapped, and tells why; what the kernel faults in for itself is of
/// one kind, whatever it does to the page.
void count_handled(Mm& mm, Range mapped, Counter kind, Rule rule, FaultOrigin origin);

/// Does one process own the page, or the huge page, alone? A huge page carries the mark on its first page.
bool is_exclusive(const FramePool& frames, Pte pte);

/// What the processor would see in an entry, with the rights of the thread that runs.
arch::Translation translation(const Mm& mm, Pte pte);

}  // namespace faultline::mm
