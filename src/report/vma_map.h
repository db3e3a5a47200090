#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/page.h"
#include "mm/profile.h"
#include "mm/vma.h"

namespace faultline::report {

/// Copies of all VMAs before and after a step, which keep no object alive (`object` tells them apart and no more), and
/// the range that the step named or worked on.
struct VmaChange {
  std::vector<mm::Vma> before;  // in order of address
  std::vector<mm::Vma> after;
  std::optional<Range> worked_on;
  const mm::VmaNames* names = nullptr;  // of VMAs that have one
};

/// A drawing shows the range, two more VMAs on either side, and never more VMAs than this: there may be thousands.
inline constexpr std::size_t kMostDrawnVmas = 16;

/// Draws address spaces as the kernel's own tests do, "AA*B   DD  CC": a letter per VMA and a column per page, `*`
/// below the pages that the step names. Long stretches are shortened, on all lines alike: "AA…AA". A VMA that lives on
/// keeps its letter. Below each drawing stands what each letter is: range, permissions, flags, and which attribute
/// keeps it apart from its lower neighbour. Lines end with a newline. Where nothing changed there is one drawing.
std::string draw_vmas(const mm::Profile& profile, const VmaChange& change);

/// Why adjacent VMAs are not one: "the flags differ: account", "the offsets are not contiguous".
std::string apart_reason(const mm::Profile& profile, const mm::Vma& low, const mm::Vma& high);

/// "account, locked": the flags of a VMA, or those that differ between two.
std::string flags_text(mm::VmFlags flags);

}  // namespace faultline::report
