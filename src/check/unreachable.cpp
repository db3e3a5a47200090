// Cells that a profile cannot reach, or that the checker does not try (docs/differences.md).
#include <initializer_list>

#include "check/expected_cells.h"
#include "mm/trace.h"

namespace faultline::check {
namespace {

using mm::Rule;

bool is_rule(const Cell& cell, std::initializer_list<Rule> rules) {
  if (cell.operation != "rule") return false;
  for (const Rule rule : rules) {
    if (cell.outcome == mm::rule_text(rule)) return true;
  }
  return false;
}

constexpr std::string_view kOtherProfile = "a rule of other profiles";

bool rule_of_other_profiles(const mm::Profile& profile, const Cell& cell) {
  using mm::ExecOnly, mm::Seal, mm::Upgrade, mm::WpReuse, mm::ZeroPage;
  const bool arm = profile.arch == arch::Arch::arm64;
  if (!arm &&
      is_rule(cell, {Rule::reports_read_untranslated, Rule::reports_read_unreadable, Rule::reports_write_unwritable})) {
    return true;
  }
  if (profile.exec_only != ExecOnly::epan && is_rule(cell, {Rule::reports_read_unreadable})) return true;
  if (profile.first_write != mm::FirstWrite::retried && is_rule(cell, {Rule::file_page_retried})) return true;
  if (profile.write_prefault != mm::WritePrefault::on_failure && is_rule(cell, {Rule::faults_disabled})) return true;
  if (!has(profile.advice, mm::AdviceSet::collapse) && is_rule(cell, {Rule::huge_collapsed})) return true;
  if (profile.rmw == mm::Rmw::read_first && is_rule(cell, {Rule::atomic_forced_write, Rule::atomic_text_unreadable})) {
    return true;
  }
  if (profile.pkeys == mm::Pkeys::absent && is_rule(cell, {Rule::protection_key})) return true;
  if (profile.zero_page == ZeroPage::shared) {
    if (is_rule(cell, {Rule::new_page_for_read, Rule::huge_page_for_read})) return true;
  } else if (is_rule(cell, {Rule::zero_page_for_read, Rule::huge_zero_for_read, Rule::huge_page_over_zero,
                            Rule::huge_split_zero})) {
    return true;
  }
  if (profile.zero_page == ZeroPage::forbidden && is_rule(cell, {Rule::copy_zero_page})) return true;
  if (profile.wp_reuse == WpReuse::exclusive && is_rule(cell, {Rule::copy_shared})) return true;
  if (profile.wp_reuse == WpReuse::page_count && is_rule(cell, {Rule::copy_not_exclusive, Rule::reuse_exclusive})) {
    return true;
  }
  if (profile.large_reuse != mm::LargeReuse::all_mine && is_rule(cell, {Rule::reuse_all_mine})) return true;
  if (profile.large_reuse == mm::LargeReuse::single_reference && is_rule(cell, {Rule::copy_large})) return true;
  if (profile.seal != Seal::upfront && is_rule(cell, {Rule::sealed_upfront})) return true;
  if (profile.seal != Seal::in_loop && is_rule(cell, {Rule::sealed_in_loop})) return true;
  if (profile.seal == Seal::absent && is_rule(cell, {Rule::sealed_discard})) return true;
  if (profile.guards == mm::Guards::absent && is_rule(cell, {Rule::guard_region})) return true;
  if (profile.huge_zero == mm::HugeZero::split && is_rule(cell, {Rule::huge_page_over_zero})) return true;
  if (profile.huge_zero == mm::HugeZero::allocate && is_rule(cell, {Rule::huge_split_zero})) return true;
  if (profile.mdwe == mm::Mdwe::absent && is_rule(cell, {Rule::write_exec_denied})) return true;
  if (profile.mremap != mm::Mremap::parameters_first && is_rule(cell, {Rule::watched_among_others})) return true;
  if (profile.uffd_close == mm::UffdClose::unprotects && is_rule(cell, {Rule::uffd_leftover})) return true;
  if (!has(profile.uffd_features, mm::UffdFeatures::wp_async) && is_rule(cell, {Rule::uffd_async})) return true;
  const bool notifies =
      profile.soft_dirty == mm::SoftDirty::present || has(profile.uffd_features, mm::UffdFeatures::wp_hugetlbfs_shmem);
  if (!notifies && is_rule(cell, {Rule::write_notified})) return true;
  switch (profile.upgrade) {
    case Upgrade::shared_dirty:
      return is_rule(cell, {Rule::no_upgrade_tracked, Rule::upgrade_exclusive, Rule::upgrade_single_reference,
                            Rule::no_upgrade_clean, Rule::no_upgrade_not_anonymous, Rule::no_upgrade_file,
                            Rule::no_upgrade_not_exclusive, Rule::no_upgrade_shared, Rule::no_upgrade_huge});
    case Upgrade::page_count:
      return is_rule(cell, {Rule::upgrade_never_private, Rule::upgrade_exclusive, Rule::no_upgrade_not_exclusive});
    case Upgrade::exclusive_dirty:
      return is_rule(cell, {Rule::upgrade_never_private, Rule::upgrade_single_reference, Rule::no_upgrade_file,
                            Rule::no_upgrade_shared});
    case Upgrade::exclusive:
      return is_rule(cell, {Rule::upgrade_never_private, Rule::upgrade_single_reference, Rule::no_upgrade_clean,
                            Rule::no_upgrade_file, Rule::no_upgrade_shared, Rule::no_upgrade_huge});
  }
  return false;
}

bool unknown_advice(const mm::Profile& profile, std::string_view argument) {
  if (argument == "MADV_COLLAPSE") return !has(profile.advice, mm::AdviceSet::collapse);
  if (argument == "MADV_DONTNEED_LOCKED") return !has(profile.advice, mm::AdviceSet::dontneed_locked);
  return argument.starts_with("MADV_POPULATE") && !has(profile.advice, mm::AdviceSet::populate);
}

/// Cells of calls that a profile does not know.
bool call_of_other_profiles(const mm::Profile& profile, const Cell& cell) {
  if (cell.operation == "madvise") return cell.outcome != "EINVAL" && unknown_advice(profile, cell.argument);
  if (profile.mdwe == mm::Mdwe::absent && cell.operation == "prctl") return cell.outcome == "ok";
  // A file that was opened for reading and writing denies nothing else.
  if (profile.mdwe == mm::Mdwe::absent && cell.operation == "mmap" && cell.outcome == "EACCES") return true;
  if (profile.memfd_exec == mm::MemfdExec::always && cell.argument == "MFD_NOEXEC_SEAL") return true;
  const bool arm = profile.arch == arch::Arch::arm64;
  return arm && profile.rmw == mm::Rmw::read_first && cell.operation == "atomic" && cell.outcome == "fault_write";
}

/// What calls and accesses give only where there are protection keys, or only where there are none.
bool answer_of_other_processors(const mm::Profile& profile, const Cell& cell) {
  const bool keys = profile.pkeys == mm::Pkeys::present;
  if (cell.outcome == "SEGV_PKUERR") return !keys;
  if (!cell.operation.starts_with("pkey_")) return false;
  const bool no_system_call = cell.operation == "pkey_set" || cell.operation == "pkey_get";
  const bool unknown = !keys && (no_system_call || profile.keyless_calls == mm::KeylessCalls::unknown);
  if (unknown || cell.outcome == "ENOSYS") return unknown != (cell.outcome == "ENOSYS");
  if (keys) return false;
  if (cell.outcome == "ok") return cell.operation != "pkey_mprotect";
  return cell.outcome == "ENOSPC" && profile.keyless_calls == mm::KeylessCalls::invalid;
}

}  // namespace

std::string_view why_unreachable(const mm::Profile& profile, const Cell& cell) {
  if (rule_of_other_profiles(profile, cell) || call_of_other_profiles(profile, cell)) return kOtherProfile;
  if (answer_of_other_processors(profile, cell)) return "an answer of other processors";
  if (profile.upgrade == mm::Upgrade::exclusive_dirty && is_rule(cell, {Rule::no_upgrade_not_anonymous})) {
    return "what is not anonymous is clean, which is looked at first";
  }
  if (profile.upgrade == mm::Upgrade::exclusive && is_rule(cell, {Rule::reuse_exclusive})) {
    return "mprotect has made every exclusive page writable";
  }
  if (cell.operation == "mlock" && cell.outcome == "EINVAL") return "an ordinary user may not lock that much";
  if (cell.operation == "mlockall" && cell.outcome == "ENOMEM")
    return "what the machine has beside the case counts too";
  if (is_rule(cell, {Rule::commit_limit})) return "the memory of the machine is not limited";
  if (is_rule(cell, {Rule::uffd_missing, Rule::uffd_write_protected}))
    return "nobody would answer: SIGBUS is asked for";
  if (is_rule(cell, {Rule::huge_split_uffd})) return "huge pages are not watched";
  if (is_rule(cell, {Rule::no_merge_uffd})) return "one userfaultfd watches";
  if (is_rule(cell, {Rule::spurious})) return "takes another processor";
  if (is_rule(cell, {Rule::stack_limit})) return "RLIMIT_STACK is not drawn: the agent has a stack too";
  if (is_rule(cell, {Rule::no_merge_name})) return "names of VMAs are not drawn";
  if (is_rule(cell, {Rule::numa_hint, Rule::numa_hint_writable})) return "no kernel can be asked for it";
  if (is_rule(cell, {Rule::fork_copied_pinned})) return "io_uring is not drawn";
  const bool drops = profile.droppable != mm::Droppable::absent;
  if (!drops && cell.operation == "mmap" && cell.argument.starts_with("MAP_DROPPABLE")) return kOtherProfile;
  if (is_rule(cell, {Rule::no_merge_gap})) return "a neighbour that is not adjacent is not told of";
  const bool everybody = profile.uffd_access == mm::UffdAccess::everybody;
  if (cell.operation == "userfaultfd") return cell.outcome == "EPERM" && everybody ? kOtherProfile : "";
  const bool absent = profile.seal == mm::Seal::absent;
  if (cell.operation == "mseal" && absent != (cell.outcome == "ENOSYS")) return kOtherProfile;
  if (cell.outcome == "EPERM" && absent && cell.operation != "fcntl" && cell.operation != "write" &&
      cell.operation != "ftruncate" && !cell.operation.starts_with("mlock") && cell.argument != "MADV_REMOVE") {
    return kOtherProfile;
  }
  const bool guards = profile.guards == mm::Guards::present;
  if (!guards && (cell.outcome == "fault_guard" || cell.argument.starts_with("MADV_GUARD"))) return kOtherProfile;
  return "";
}

}  // namespace faultline::check
