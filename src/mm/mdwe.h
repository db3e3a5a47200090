#pragma once

#include "base/errno.h"
#include "base/flags.h"
#include "mm/vma.h"

namespace faultline::mm {

struct Mm;

/// prctl(2) PR_SET_MDWE's argument: memory that is denied being written and executed.
enum class DenyWriteExec : std::uint64_t {
  none = 0,
  refuse_exec_gain = 1,
  no_inherit = 2,  // a forked child is free again
};
}  // namespace faultline::mm

template <>
inline constexpr bool faultline::kIsFlagSet<faultline::mm::DenyWriteExec> = true;

namespace faultline::mm {

/// PR_SET_MDWE: EINVAL where the profile has none, or for unknown bits; EPERM for anything but what is set already.
Result<void> do_set_mdwe(Mm& mm, DenyWriteExec bits);

/// Does it forbid memory that had the flags `before` to have `after`? For a new mapping both are the same.
constexpr bool denies(DenyWriteExec mdwe, VmFlags before, VmFlags after) {
  if (mdwe == DenyWriteExec::none || !has(after, VmFlags::exec)) return false;
  return has(after, VmFlags::write) || !has(before, VmFlags::exec);
}

}  // namespace faultline::mm
