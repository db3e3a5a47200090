#pragma once

#include "mm/frame.h"
#include "mm/profile.h"
#include "mm/pte.h"
#include "mm/trace.h"
#include "mm/vma.h"

namespace faultline::mm {

/// May a change of protection make entries of this VMA writable by itself? Those of shared memory are writable by
/// protection: it has no write-notify (A.4).
inline bool may_upgrade(const Vma& vma) { return vma.is(VmFlags::write) && !vma.is(VmFlags::shared); }
/// May it make this entry so (A.2)? `pte` is the entry with its new protection, `vma` may_upgrade(). One of the
/// upgrade_… rules when it may, else the first test that refused.
Rule upgrade_rule(const Profile& profile, const Vma& vma, Pte pte, const FramePool& frames);

constexpr bool upgrades(Rule rule) { return rule == Rule::upgrade_exclusive || rule == Rule::upgrade_single_reference; }

/// Reuse the page of a write-protect fault, or copy it (A.6)? One of the reuse_… or copy_… rules.
Rule write_protect_rule(WpReuse policy, Pte pte, const FramePool& frames);

constexpr bool reuses(Rule rule) {
  return rule == Rule::reuse_exclusive || rule == Rule::reuse_single_reference || rule == Rule::reuse_all_mine;
}

}  // namespace faultline::mm
