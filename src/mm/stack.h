#pragma once

#include <expected>
#include <optional>

#include "mm/mm.h"

/// Memory that grows down as it is touched (MAP_GROWSDOWN), and the gap that is kept below it (D.11).
namespace faultline::mm {

/// stack_guard_gap.
inline constexpr std::uint64_t kStackGuardGap = 256 * kPageSize;

/// Where the addresses begin that belong to a VMA and to the gap below it, if it grows down (vm_start_gap).
inline Addr start_with_gap(const Vma& vma) {
  if (!vma.is(VmFlags::grows_down)) return vma.start;
  return Addr{vma.start.value < kStackGuardGap ? 0 : vma.start.value - kStackGuardGap};
}

/// Grows the VMA above an unmapped address down to it, if it is one that grows (expand_stack). The VMA, which now
/// contains the address, or what forbids it: Rule::no_vma where nothing above grows.
std::expected<Vma*, Rule> grow_stack(Mm& mm, Addr addr);

/// The highest free range of `bytes`, no part of which lies in a gap below a stack; or nothing.
std::optional<Addr> highest_gap(const Mm& mm, std::uint64_t bytes);

}  // namespace faultline::mm
