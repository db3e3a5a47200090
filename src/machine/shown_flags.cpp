#include "machine/shown_flags.h"

#include "base/vm_flags.h"

namespace faultline::machine {
namespace {

using mm::Smaps;
using mm::VmFlags;

struct Letters {
  VmFlags flag;
  std::string_view text;
  Smaps shown_by = Smaps::none;  // none: by every kernel
};

constexpr Letters kLetters[] = {
    {VmFlags::read, "rd"},
    {VmFlags::write, "wr"},
    {VmFlags::exec, "ex"},
    {VmFlags::shared, "sh"},
    {VmFlags::may_read, "mr"},
    {VmFlags::may_write, "mw"},
    {VmFlags::may_exec, "me"},
    {VmFlags::may_share, "ms"},
    {VmFlags::grows_down, "gd"},
    {VmFlags::maybe_guard, "gu", Smaps::maybe_guard},
    {VmFlags::locked, "lo"},
    {VmFlags::lock_on_fault, "lf", Smaps::lock_on_fault},
    {VmFlags::seq_read, "sr"},
    {VmFlags::rand_read, "rr"},
    {VmFlags::dontcopy, "dc"},
    {VmFlags::account, "ac"},
    {VmFlags::noreserve, "nr"},
    {VmFlags::wipeonfork, "wf"},
    {VmFlags::dontdump, "dd"},
    {VmFlags::soft_dirty, "sd"},
    {VmFlags::hugepage, "hg"},
    {VmFlags::nohugepage, "nh"},
    {VmFlags::mergeable, "mg"},
    {VmFlags::uffd_missing, "um"},
    {VmFlags::uffd_wp, "uw"},
    {VmFlags::droppable, "dp"},
    {VmFlags::sealed, "sl", Smaps::sealed},
};

}  // namespace

std::uint64_t shown_flags(const mm::Profile& profile, VmFlags flags) {
  std::uint64_t shown = 0;
  for (const Letters& letters : kLetters) {
    const bool tells = letters.shown_by == Smaps::none || has(profile.smaps, letters.shown_by);
    if (has(flags, letters.flag)) shown |= tells ? vm_flag_bit(letters.text) : kOtherVmFlag;
  }
  return shown;
}

}  // namespace faultline::machine
