// fork(2): A.8.
#include <limits>
#include <vector>

#include "mm/calls.h"
#include "mm/fault.h"
#include "mm/page_lists.h"
#include "mm/userfault.h"

namespace faultline::mm {
namespace {

/// Is that a page that somebody has pinned, so that it has to stay the parent's own?
bool copies_now(Mm& parent, const Vma& vma, Pte pte) {
  if (!parent.has_pinned || vma.is(VmFlags::shared) || pte.zero_page() || pte.huge()) return false;
  const FramePool& frames = parent.frames();
  if (!frames.pinned(pte.frame()) || frames.at(pte.frame()).cached()) return false;
  return parent.profile().wp_reuse == WpReuse::page_count || is_exclusive(frames, pte);
}

void copy_for_child(Mm& parent, Mm& child, const Vma& vma, Addr at, Pte pte) {
  parent.count(Counter::pages_copied);
  parent.explain([&] {
    return Event{.kind = EventKind::handled,
                 .range = Range::of(at, kPageSize),
                 .rule = Rule::fork_copied_pinned,
                 .counter = Counter::pages_copied};
  });
  const FrameId copy = parent.frames().allocate_copy(pte.frame());
  add_to_lru(parent, copy);  // no child's memory is locked
  parent.frames().map_new(copy);
  parent.frames().at(copy).set_exclusive(Exclusive::yes);
  const std::uint64_t write = vma.is(VmFlags::write) ? Pte::kWrite | Pte::kDirty : Pte::kDirty;
  set_pte(child, at, Pte::make(copy, protection_bits(parent.profile(), vma.flags) | Pte::kYoung | write));
}

/// Shares the pages of one VMA with the child: both sides write-protected, and owned by neither.
void share_pages(Mm& parent, Mm& child, const Vma& vma) {
  Addr next_table{0};
  parent.table.update(vma.range(), [&](Addr at, Pte pte) {
    // Where the parent has a table, the child gets one, whatever is in it.
    if (at >= next_table && !pte.huge()) {
      set_pte(child, at, child.table.get(at));
      next_table = huge_floor(at) + kHugeBytes;
    }
    if (pte.vacant()) return pte;
    if (pte.guard()) {
      set_pte(child, at, Pte::guard_marker());
      return pte;
    }
    if (copies_now(parent, vma, pte)) {
      copy_for_child(parent, child, vma, at, pte);
      return pte;
    }
    parent.frames().map(pte.frame(), pte.size());
    if (vma.is(VmFlags::shared)) {
      set_pte(child, at, pte.without(Pte::kDirty | Pte::kYoung | Pte::kUffdWp));
      return pte;
    }
    if (!pte.zero_page()) parent.frames().at(pte.frame()).set_exclusive(Exclusive::no);
    const Pte shared = pte.without(Pte::kWrite | Pte::kSavedWrite);
    set_pte(child, at, shared.without(Pte::kYoung | Pte::kUffdWp));
    forget_translation(parent, at, pte);
    return shared;
  });
}

/// The child is promised what its parent was.
bool promise(Mm& parent, const Vma& vma) {
  if (!vma.is(VmFlags::account) || parent.system.commit().charge(vma.pages(), parent.usage.total)) return true;
  static_cast<void>(parent.refuse(ENOMEM, Rule::commit_limit, vma.range()));
  return false;
}

}  // namespace

std::unique_ptr<Mm> do_fork(Mm& parent) {
  auto child = std::make_unique<Mm>(parent.system, parent);
  parent.count(Counter::mmap_lock_write);
  const Range everything{Addr{0}, parent.geometry().task_size};
  std::vector<Vma*> left_out;
  bool refused = false;
  child->vmas.each(everything, [&](Vma& vma) {
    if (refused) return left_out.push_back(&vma);
    visit_vma(parent);
    // Nobody asks for UFFD_FEATURE_EVENT_FORK, so that no userfaultfd watches the child.
    vma.flags &= ~(VmFlags::locked | VmFlags::lock_on_fault | kUffdFlags);
    vma.uffd = 0;
    const bool copied = !vma.is(VmFlags::dontcopy);
    refused = copied && !promise(parent, vma);
    if (!copied || refused) return left_out.push_back(&vma);
    if (vma.is(VmFlags::wipeonfork)) {
      vma.anon_vma = 0;
      vma.chain = 0;
    } else if (vma.anon_vma != 0 || vma.is(VmFlags::maybe_guard)) {
      // A mapping that was never written privately has no anon_vma, and the child faults for itself what it needs.
      share_pages(parent, *child, vma);
      if (vma.anon_vma == 0) return;
      vma.anon_vma = parent.system.next_anon_vma();
      if (vma.chain != std::numeric_limits<AnonVmaChain>::max()) ++vma.chain;
    }
  });
  for (Vma* vma : left_out) child->vmas.erase(vma);
  child->vmas.each(everything, [&](const Vma& vma) { child->usage.add(vma.flags, vma.pages()); });
  // The parent's write permissions are gone from its entries, and must go from every TLB.
  parent.count(Counter::flushes_full);
  parent.explain(
      [&] { return Event{.kind = EventKind::flush, .range = everything, .counter = Counter::flushes_full}; });
  parent.counters += child->counters;  // making the child's tables is the parent's work
  child->counters = {};
  // What was shared so far stays write-protected.
  if (refused) return nullptr;
  return child;
}

}  // namespace faultline::mm
