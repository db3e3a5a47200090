#include "mm/trace.h"

#include <array>
#include <utility>

namespace faultline::mm {
namespace {

struct RuleWords {
  Rule rule;
  std::string_view text;
  std::string_view source;
};

constexpr auto kRules = std::to_array<RuleWords>({
    {Rule::none, "", ""},
    {Rule::no_vma, "no mapping at this address", "B.2"},
    {Rule::vma_forbids, "the mapping does not permit this access", "B.2"},
    {Rule::guard_region, "a guard region", "D.7"},
    {Rule::protection_key, "the thread has no such right to the mapping's protection key", "D.14"},
    {Rule::zero_page_for_read, "first touch by a read: the zero page, read-only", "A.6"},
    {Rule::new_page_for_read, "first touch by a read: a new page, for the zero page is forbidden", "A.6"},
    {Rule::new_page_for_write, "first touch by a write: a new page, exclusive and dirty", "A.6"},
    {Rule::file_page, "mapped: the page of a file or of shared memory", "A.6"},
    {Rule::file_page_retried, "mapped, and the page is dirty now: taken again, which counts as a major fault", "A.4"},
    {Rule::file_page_copied, "first write to a private mapping of a file: a copy of the file's page", "A.6"},
    {Rule::write_notified, "made writable: a shared page whose first write is watched", "A.4"},
    {Rule::uffd_missing, "missing: a userfaultfd's handler is waited for, and puts a page of zeroes there", "D.9"},
    {Rule::uffd_write_protected, "write-protected: a userfaultfd's handler is waited for, and unprotects the page",
     "D.9"},
    {Rule::uffd_unanswered, "a userfaultfd watches the page, and no handler is waited for", "D.9"},
    {Rule::uffd_async,
     "write-protected by a userfaultfd in async mode: the protection is taken away, and the fault goes on", "D.9"},
    {Rule::uffd_leftover, "a marker of a userfaultfd that is gone: taken away, and tried again", "D.9"},
    {Rule::beyond_end, "beyond the end of the mapped file", "D.7"},
    {Rule::numa_hint, "NUMA hint: the entry gets its access back, but for writing", "A.8"},
    {Rule::numa_hint_writable, "NUMA hint: the entry gets its access back, writing too", "A.8"},
    {Rule::fork_copied_pinned, "copied for the child at once: the page is pinned", "A.8"},
    {Rule::stack_grown, "the stack above grows down to here", "D.11"},
    {Rule::stack_guard_gap, "the stack above may not grow: too near to the mapping below (stack_guard_gap)", "D.11"},
    {Rule::stack_limit, "the stack above may not grow: RLIMIT_STACK", "D.11"},
    {Rule::faults_disabled, "page faults are disabled: the kernel's copy stops here", "D.8"},
    {Rule::copy_zero_page, "copy: the zero page is not anonymous memory", "A.6"},
    {Rule::copy_file_page, "copy: the page is the file's", "A.6"},
    {Rule::copy_shared, "copy: the page has more than one reference", "A.6"},
    {Rule::copy_not_exclusive, "copy: the page is not exclusive and has more than one reference", "A.6"},
    {Rule::reuse_exclusive, "reuse: the page is exclusive", "A.6"},
    {Rule::reuse_single_reference, "reuse: this is the page's only reference", "A.6"},
    {Rule::reuse_all_mine, "reuse: every reference to the huge page is a mapping of this process", "A.6"},
    {Rule::copy_large, "copy: a part of a huge page is not reused unless it is exclusive", "A.6"},
    {Rule::spurious, "spurious: the page permits the access", "A.6"},
    {Rule::reports_read_untranslated, "an atomic on an unmapped page is reported as a read", "B.1"},
    {Rule::reports_read_unreadable, "an atomic is reported as a read where reading would fault too", "B.1"},
    {Rule::reports_write_unwritable, "an atomic on a readable page that is not writable is reported as a write", "B.1"},
    {Rule::atomic_forced_write, "the instruction is an atomic: faulted as a write", "B.3"},
    {Rule::atomic_text_unreadable, "the instruction cannot be read: a nested fault, and no upgrade", "B.5"},
    {Rule::upgrade_never_private, "not upgraded: this kernel never upgrades private memory", "A.2"},
    {Rule::upgrade_exclusive, "made writable: the page is exclusive", "A.2"},
    {Rule::upgrade_single_reference, "made writable: dirty, and this is the only reference", "A.2"},
    {Rule::no_upgrade_clean, "not upgraded: the entry is clean", "A.2"},
    {Rule::no_upgrade_tracked, "not upgraded: who tracks writes has to see the next one", "A.5"},
    {Rule::no_upgrade_not_anonymous, "not upgraded: the page is not anonymous memory", "A.2"},
    {Rule::no_upgrade_file, "not upgraded: the mapping is not anonymous", "A.2"},
    {Rule::no_upgrade_not_exclusive, "not upgraded: the page is not exclusive", "A.2"},
    {Rule::no_upgrade_shared, "not upgraded: the page has more than one reference", "A.2"},
    {Rule::no_upgrade_huge, "not upgraded: this kernel upgrades no huge page", "A.2"},
    {Rule::huge_zero_for_read, "first touch by a read: the huge zero page, read-only", "B.5"},
    {Rule::huge_page_for_read, "first touch by a read: a new huge page, for the zero page is forbidden", "A.6"},
    {Rule::huge_page_for_write, "first touch by a write: a new huge page, exclusive and dirty", "B.5"},
    {Rule::huge_page_over_zero, "a new huge page takes the place of the huge zero page", "B.7"},
    {Rule::huge_split_boundary, "huge page split: the range ends inside it", "B.5"},
    {Rule::huge_split_zero, "huge zero page split: only the page written is copied", "B.5"},
    {Rule::huge_split_shared, "huge page split: others map it, and only the page written is copied", "A.6"},
    {Rule::huge_split_uffd, "huge page split: a userfaultfd protects it in async mode, page by page", "D.9"},
    {Rule::huge_collapsed, "collapsed into a huge page", "D.7"},
    {Rule::merged, "merged", "D.1"},
    {Rule::no_merge_flags, "not merged: the flags differ", "D.1"},
    {Rule::no_merge_file, "not merged: not the same file", "D.1"},
    {Rule::no_merge_uffd, "not merged: not watched by the same userfaultfd", "D.1"},
    {Rule::no_merge_name, "not merged: the names differ", "D.10"},
    {Rule::no_merge_offset, "not merged: the offsets are not contiguous", "D.1"},
    {Rule::no_merge_anon_vma, "not merged: the anon_vmas differ, or fork cloned one", "D.1"},
    {Rule::no_merge_gap, "not merged: not adjacent", "D.1"},
    {Rule::no_merge_middle, "not merged: the range touches neither end of its mapping", "D.1"},
    {Rule::sealed_upfront, "sealed: tested before any change", "C.3"},
    {Rule::sealed_in_loop, "sealed: tested as the loop reached it", "C.3"},
    {Rule::sealed_discard, "sealed: this advice would discard memory that cannot be overwritten", "C.4"},
    {Rule::map_count_limit, "vm.max_map_count is reached", "D.2"},
    {Rule::resource_limit, "a resource limit of the process is reached", "D.5"},
    {Rule::commit_limit, "the machine promises no more memory", "D.5"},
    {Rule::file_permission, "the file is not open for that, or sealed against it", "D.3"},
    {Rule::not_watched, "the userfaultfd does not watch that, or not so", "D.9"},
    {Rule::watched_among_others, "a userfaultfd watches it, and it is moved together with others", "D.9"},
    {Rule::write_exec_denied, "PR_SET_MDWE: what was writable may not become executable", "D.3"},
    {Rule::hole, "part of the range is not mapped", "D.3"},
    {Rule::bad_argument, "an argument is refused", "D.3"},
});

constexpr bool in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (std::to_underlying(kRules[i].rule) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kRules lists every Rule, in the order of the enum");

}  // namespace

std::string_view rule_text(Rule rule) { return kRules[std::to_underlying(rule)].text; }
std::string_view rule_source(Rule rule) { return kRules[std::to_underlying(rule)].source; }

Backing backing_of(const Vma& vma) {
  if (vma.object == nullptr) return Backing::anonymous;
  return vma.is(VmFlags::may_share) ? Backing::shared : Backing::private_file;
}

}  // namespace faultline::mm
