#pragma once

#include <cstdint>
#include <optional>

#include "base/page.h"

namespace faultline::agent {

using FlagsVisit = void (*)(void* context, Range area, std::uint64_t flags);
void visit_vm_flags(int file, Range range, FlagsVisit visit, void* context);

/// Pages of the range that huge pages of anonymous memory map, by the text of /proc/PID/smaps open at `file`; the huge
/// zero page is not among them. Nothing where an area with huge pages lies only partly in the range, for the text
/// counts by area.
std::optional<std::uint64_t> anon_huge_pages(int file, Range range);

/// Calls `visit(area, flags)` for each area that overlaps the range, in order of address: the flags are a set of
/// base/vm_flags.h. Reads no further than the range.
template <class Visit>
void each_vm_flags(int file, Range range, Visit visit) {
  const auto call = [](void* context, Range area, std::uint64_t flags) {
    (*static_cast<Visit*>(context))(area, flags);
  };
  visit_vm_flags(file, range, call, &visit);
}

/// The protection key of the area there, by the same text; 0 where it names none, as on a processor without keys.
std::uint64_t protection_key(int file, Addr addr);

}  // namespace faultline::agent
