#include "mm/upgrade.h"

#include "mm/soft_dirty.h"
#include "mm/userfault.h"

namespace faultline::mm {
namespace {

Rule page_count_rule(const Vma& vma, Pte pte, const FramePool& frames) {
  if (vma.object != nullptr) return Rule::no_upgrade_file;
  if (pte.zero_page()) return Rule::no_upgrade_not_anonymous;
  if (frames.references(pte.frame()) != 1) return Rule::no_upgrade_shared;
  if (!pte.dirty()) return Rule::no_upgrade_clean;
  return Rule::upgrade_single_reference;
}

Rule exclusive_rule(Pte pte, const FramePool& frames) {
  if (pte.zero_page() || frames.at(pte.frame()).cached()) return Rule::no_upgrade_not_anonymous;
  if (frames.at(pte.frame()).exclusive() == Exclusive::no) return Rule::no_upgrade_not_exclusive;
  return Rule::upgrade_exclusive;
}

/// May the next write go unseen by soft-dirty tracking (A.5)? The v5 patch asked the wrong way round.
bool blocked_by_soft_dirty(const Profile& profile, const Vma& vma, Pte pte) {
  if (profile.soft_dirty == SoftDirty::absent || pte.soft_dirty()) return false;
  switch (profile.upgrade) {
    case Upgrade::shared_dirty:
      return false;
    case Upgrade::page_count:
      return vma.is(VmFlags::soft_dirty);
    case Upgrade::exclusive_dirty:
    case Upgrade::exclusive:
      return tracks_soft_dirty(profile, vma.flags);
  }
  return false;
}

Rule rule_of(Upgrade policy, const Vma& vma, Pte pte, const FramePool& frames) {
  switch (policy) {
    case Upgrade::shared_dirty:
      return Rule::upgrade_never_private;
    case Upgrade::page_count:
      return pte.huge() ? Rule::no_upgrade_huge : page_count_rule(vma, pte, frames);
    case Upgrade::exclusive_dirty:
      if (pte.huge()) return Rule::no_upgrade_huge;
      return pte.dirty() ? exclusive_rule(pte, frames) : Rule::no_upgrade_clean;
    case Upgrade::exclusive:
      return exclusive_rule(pte, frames);
  }
  return Rule::none;
}

/// The same, or by a userfaultfd.
bool blocked_by_tracking(const Profile& profile, const Vma& vma, Pte pte) {
  const bool protects = profile.upgrade == Upgrade::page_count ? pte.uffd_wp() : is_uffd_protected(vma, pte);
  return protects || blocked_by_soft_dirty(profile, vma, pte);
}

}  // namespace

Rule upgrade_rule(const Profile& profile, const Vma& vma, Pte pte, const FramePool& frames) {
  const Rule rule = rule_of(profile.upgrade, vma, pte, frames);
  return upgrades(rule) && blocked_by_tracking(profile, vma, pte) ? Rule::no_upgrade_tracked : rule;
}

Rule write_protect_rule(WpReuse policy, Pte pte, const FramePool& frames) {
  if (pte.zero_page()) return Rule::copy_zero_page;
  const Frame& frame = frames.at(pte.frame());
  if (frame.cached()) return Rule::copy_file_page;
  const bool only_reference = frames.page_count(pte.frame()) == 1;
  switch (policy) {
    case WpReuse::page_count:
      return only_reference ? Rule::reuse_single_reference : Rule::copy_shared;
    case WpReuse::exclusive:
      if (frame.exclusive() == Exclusive::yes) return Rule::reuse_exclusive;
      return only_reference ? Rule::reuse_single_reference : Rule::copy_not_exclusive;
  }
  return Rule::copy_shared;
}

}  // namespace faultline::mm
