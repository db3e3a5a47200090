#include "mm/upgrade.h"

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

}  // namespace

Rule upgrade_rule(Upgrade policy, const Vma& vma, Pte pte, const FramePool& frames) {
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

Rule write_protect_rule(WpReuse policy, Pte pte, const FramePool& frames) {
  if (pte.zero_page()) return Rule::copy_zero_page;
  const Frame& frame = frames.at(pte.frame());
  if (frame.cached()) return Rule::copy_file_page;
  const bool only_reference = frames.references(pte.frame()) == 1;
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
