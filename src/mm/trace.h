#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/counters.h"
#include "base/errno.h"
#include "base/flags.h"
#include "base/page.h"
#include "base/signal.h"
#include "mm/vma.h"

/// How the model explains itself: one Event per decision, in the order in which they are taken.
namespace faultline::mm {

/// The rule that decided. rule_text() says it in words, rule_source() names the section of docs/kernel-semantics.md.
enum class Rule : std::uint8_t {
  none,
  // Faults.
  no_vma,
  vma_forbids,
  guard_region,
  protection_key,
  zero_page_for_read,
  new_page_for_read,
  new_page_for_write,
  file_page,
  file_page_retried,
  file_page_copied,
  write_notified,
  uffd_missing,
  uffd_write_protected,
  uffd_unanswered,
  uffd_async,
  uffd_leftover,
  beyond_end,
  numa_hint,
  numa_hint_writable,
  fork_copied_pinned,
  stack_grown,
  stack_guard_gap,
  stack_limit,
  faults_disabled,
  copy_zero_page,
  copy_file_page,
  copy_shared,
  copy_not_exclusive,
  reuse_exclusive,
  reuse_single_reference,
  reuse_all_mine,
  copy_large,
  spurious,
  // arm64: what the hardware reports for an atomic, and what the v5 patch makes of it.
  reports_read_untranslated,
  reports_read_unreadable,
  reports_write_unwritable,
  atomic_forced_write,
  atomic_text_unreadable,
  // mprotect's upgrade: why a PTE was or was not made writable.
  upgrade_never_private,
  upgrade_exclusive,
  upgrade_single_reference,
  no_upgrade_clean,
  no_upgrade_tracked,
  no_upgrade_not_anonymous,
  no_upgrade_file,
  no_upgrade_not_exclusive,
  no_upgrade_shared,
  no_upgrade_huge,
  // Huge pages.
  huge_zero_for_read,
  huge_page_for_read,
  huge_page_for_write,
  huge_page_over_zero,
  huge_split_boundary,
  huge_split_zero,
  huge_split_shared,
  huge_split_uffd,
  huge_collapsed,
  // Merging: which attribute kept neighbours apart.
  merged,
  no_merge_flags,
  no_merge_file,
  no_merge_uffd,
  no_merge_name,
  no_merge_offset,
  no_merge_anon_vma,
  no_merge_gap,
  no_merge_middle,
  // Sealing.
  sealed_upfront,
  sealed_in_loop,
  sealed_discard,
  // Limits and refusals.
  map_count_limit,
  resource_limit,
  commit_limit,
  file_permission,
  not_watched,
  watched_among_others,
  write_exec_denied,
  hole,
  bad_argument,
};
std::string_view rule_text(Rule rule);
std::string_view rule_source(Rule rule);

enum class EventKind : std::uint8_t {
  vma,        // the VMA that an access or call works on: range, prot, backing
  pte,        // the page's entry when the access is made: page
  hardware,   // what the processor reports: rule says why; `write` is the reported direction
  exception,  // a fault is taken
  handled,    // how it was resolved: counter names the kind, rule says why
  growth,     // a stack grew by range
  probe,      // arm64: the kernel reads the instruction at the faulting pc
  upgrade,    // mprotect made a PTE writable, or did not: rule says why
  split,      // a VMA was split at range.start
  huge,       // a huge page was split into PTEs, or made of them: rule says why
  merge,      // VMAs merged into range, or did not: rule says why
  flush,      // TLB flush of range; counter says ranged or full
  watched,    // a userfaultfd has a say in the fault: rule says which
  refused,    // the call failed with error
  signal,     // the access ended in a signal
};

/// What is behind a mapping.
enum class Backing : std::uint8_t { anonymous, private_file, shared };
Backing backing_of(const Vma& vma);

/// A page-table entry as an explanation shows it.
struct EntryView {
  bool present = false;
  bool zero_page = false;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool dirty = false;
  bool exclusive = false;
  bool guard = false;
  bool uffd_wp = false;  // protected by a userfaultfd, where nothing is present too
  bool huge = false;     // of a huge page, whose references these are
  std::uint32_t references = 0;
};

struct Event {
  EventKind kind{};
  Range range{};
  Rule rule = Rule::none;
  Counter counter = Counter::count_;
  Prot prot = Prot::none;
  Backing backing = Backing::anonymous;
  VmFlags differing = VmFlags::none;  // of a merge that Rule::no_merge_flags prevented: the flags that differ
  bool write = false;
  EntryView entry{};
  int error = 0;
  std::optional<Signal> signal{};
};

class AddressSpace;

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on(const Event& event) = 0;
  /// For those who drive an address space: what it is before and after an operation. A long operation may be shown in
  /// several parts.
  virtual void before(const AddressSpace& /*space*/) {}
  virtual void after(const AddressSpace& /*space*/) {}
};

}  // namespace faultline::mm
