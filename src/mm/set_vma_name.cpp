// prctl(2) PR_SET_VMA_ANON_NAME: D.10.
#include "mm/calls.h"
#include "mm/merge.h"
#include "mm/over_holes.h"

namespace faultline::mm {
namespace {

constexpr std::size_t kLongestName = 79;

bool permitted(char c) {
  constexpr std::string_view kRefused = "\\`$[]";
  return c > 0x1f && c < 0x7f && !kRefused.contains(c);
}

/// May the VMA have a name?
bool nameable(VmaNaming naming, const Vma& vma) { return vma.object == nullptr || naming == VmaNaming::anonymous; }

}  // namespace

Result<void> do_set_vma_name(Mm& mm, Addr start, std::uint64_t length, std::optional<std::string_view> text) {
  const Range asked = Range::of(start, 0);
  const VmaNaming naming = mm.profile().vma_naming;
  if (naming == VmaNaming::absent) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  VmaName name = kUnnamed;
  if (text) {
    const bool good = text->size() <= kLongestName && std::ranges::all_of(*text, permitted);
    if (!good) return mm.refuse(EINVAL, Rule::bad_argument, asked);
    const auto numbered = mm.system.vma_names().number(*text);
    if (!numbered) return mm.refuse(ENOMEM, Rule::resource_limit, asked);
    name = *numbered;
  }
  mm.count(Counter::mmap_lock_write);
  if (!start.page_aligned()) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  const std::uint64_t bytes = page_ceil(length);
  if (length != 0 && bytes == 0) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  const Addr end = start + bytes;
  if (end < start) return mm.refuse(EINVAL, Rule::bad_argument, asked);
  const Range range{start, end};
  const auto holes = each_over_holes(mm, range, [&](Vma* vma, Range part) -> Result<Vma*> {
    visit_vma(mm);
    if (!nameable(naming, *vma)) return mm.refuse(EBADF, Rule::file_permission, vma->range());
    if (vma->name == name) return vma;
    const auto named = modify_name(mm, vma, part, name);
    // As of advice.
    if (!named) return fail(named.error() == Errno{ENOMEM} ? EAGAIN : named.error().value);
    return named;
  });
  if (!holes) return std::unexpected(holes.error());
  if (*holes == Holes::some) return mm.refuse(ENOMEM, Rule::hole, range);
  return {};
}

}  // namespace faultline::mm
