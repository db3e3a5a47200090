// How a permitted fault is resolved: A.6 and A.7.
#include "mm/fault.h"
#include "mm/huge.h"
#include "mm/numa_hint.h"
#include "mm/page_lists.h"
#include "mm/upgrade.h"
#include "mm/userfault.h"

namespace faultline::mm {

void count_handled(Mm& mm, Range mapped, Counter kind, Rule rule, FaultOrigin origin) {
  const bool populating = origin == FaultOrigin::populate || origin == FaultOrigin::populate_again;
  const Counter counter = populating ? Counter::populated : kind;
  mm.count(counter, populating ? mapped.pages() : 1);
  mm.explain([&] { return Event{.kind = EventKind::handled, .range = mapped, .rule = rule, .counter = counter}; });
}

namespace {

/// The entry of a page that this VMA now owns alone.
Pte owned_entry(const Mm& mm, const Vma& vma, FrameId frame) {
  const std::uint64_t write = vma.is(VmFlags::write) ? Pte::kWrite | Pte::kWritten : 0;
  return Pte::make(frame, protection_bits(mm.profile(), vma.flags) | Pte::kYoung | write);
}

}  // namespace

void map_owned(Mm& mm, const Vma& vma, Addr addr, FrameId frame) {
  mm.frames().map_new(frame);
  mm.frames().at(frame).set_exclusive(Exclusive::yes);
  set_pte(mm, addr, owned_entry(mm, vma, frame));
}

namespace {

void map_zero_page(Mm& mm, const Vma& vma, Addr addr) {
  set_pte(mm, addr, Pte::make(kZeroFrame, protection_bits(mm.profile(), vma.flags) | Pte::kYoung));
}

void copy_page(Mm& mm, Vma& vma, Addr addr, Pte old) {
  prepare_anon_vma(mm, vma);
  const bool from_zero = old.zero_page();
  mm.count(from_zero ? Counter::pages_zeroed : Counter::pages_copied);
  const FrameId copy = from_zero ? mm.frames().allocate() : mm.frames().allocate_copy(old.frame());
  add_new_page(mm, vma, copy);
  if (old.accessible()) flush_now(mm, addr, PageSize::base);
  if (!from_zero) {
    mm.count(Counter::pages_unmapped);
    if (vma.is(VmFlags::locked) && lockable(mm, old)) unlock_page(mm, old.frame());
    drop_mapping(mm, old.frame());
  }
  map_owned(mm, vma, addr, copy);
}

/// The first touch of a page of anonymous memory (do_anonymous_page).
Handled resolve_missing(Mm& mm, Vma& vma, Addr addr, arch::Report access, FaultOrigin origin) {
  const bool write = access == arch::Report::write;
  const Range page = Range::of(addr, kPageSize);
  const Pte before = mm.table.get(addr);
  const bool huge = before.none() && huge_page_allowed(mm, vma, addr) && !mm.table.has_table(addr);
  const bool zero_page = !write && mm.profile().zero_page == ZeroPage::shared;
  if (vma.is(VmFlags::uffd_missing)) {
    // What comes before the question stays: the anon_vma and the table.
    if (huge || !zero_page) prepare_anon_vma(mm, vma);
    if (!huge) set_pte(mm, addr, before);
    return handle_userfault(mm, vma, addr, Userfault::missing, access, origin);
  }
  mm.count(Counter::minor_faults);
  if (huge) {
    fault_in_huge(mm, vma, addr, access, origin);
    return Handled::done;
  }
  if (zero_page) {
    map_zero_page(mm, vma, addr);
    count_handled(mm, page, Counter::fault_read, Rule::zero_page_for_read, origin);
  } else {
    prepare_anon_vma(mm, vma);
    mm.count(Counter::pages_zeroed);
    const FrameId frame = mm.frames().allocate();
    add_new_page(mm, vma, frame);
    map_owned(mm, vma, addr, frame);
    count_handled(mm, page, write ? Counter::fault_write : Counter::fault_read,
                  write ? Rule::new_page_for_write : Rule::new_page_for_read, origin);
  }
  if (before.uffd_marker()) keep_uffd_protection(mm, addr);
  return Handled::done;
}

/// A write to what a userfaultfd protects in async mode: the protection goes, and the fault goes on.
Pte unprotect(Mm& mm, Addr addr, Pte pte) {
  mm.explain(
      [&] { return Event{.kind = EventKind::watched, .range = Range::of(addr, kPageSize), .rule = Rule::uffd_async}; });
  set_pte(mm, addr, pte.without(Pte::kUffdWp));
  return pte.without(Pte::kUffdWp);
}

/// Kernels that mark exclusive pages let one that waits for its list go there before they ask who else has it, lest the
/// batch be taken for somebody.
void end_wait(Mm& mm, Pte pte) {
  constexpr std::uint32_t kHopeless = 3;  // so many references are not the batch's alone
  const Frame& frame = mm.frames().at(pte.frame());
  if (mm.profile().wp_reuse != WpReuse::exclusive || frame.exclusive() == Exclusive::yes) return;
  // What waits to be freed lazily is on a list.
  const bool waits = frame.on_batch() == OnBatch::yes && !frame.lazily_freed();
  if (waits && !frame.cached() && mm.frames().page_count(pte.frame()) <= kHopeless) drain_lru(mm);
}

}  // namespace

Handled resolve(Mm& mm, Vma& vma, Addr addr, arch::Report access, FaultOrigin origin) {
  addr = addr.page_floor();
  const bool write = access == arch::Report::write;
  const Range page = Range::of(addr, kPageSize);
  Pte pte = mm.table.get(addr);
  if (pte.guard()) return Handled::guarded;
  if (pte.uffd_marker() && !vma.is(VmFlags::uffd_wp)) {
    set_pte(mm, addr, Pte{});
    mm.count(Counter::minor_faults);
    count_handled(mm, page, Counter::fault_spurious, Rule::uffd_leftover, origin);
    return Handled::done;
  }
  if (pte.vacant()) {
    return vma.object != nullptr ? resolve_file(mm, vma, addr, write ? Direction::write : Direction::read, origin)
                                 : resolve_missing(mm, vma, addr, access, origin);
  }
  if (is_numa_hint(vma, pte)) {
    mm.count(Counter::minor_faults);
    resolve_numa_hint(mm, vma, addr, pte, origin);
    return Handled::done;
  }
  const bool protects = write && is_uffd_protected(vma, pte);
  if (protects && !is_uffd_async(mm, vma)) {
    return handle_userfault(mm, vma, addr, Userfault::write_protected, access, origin);
  }
  if (protects && !pte.huge()) pte = unprotect(mm, addr, pte);
  if (write && !pte.write() && vma.is(VmFlags::shared)) return resolve_write_notify(mm, addr, pte, origin);
  mm.count(Counter::minor_faults);
  if (pte.huge()) {
    if (resolve_huge(mm, vma, addr, access, origin) == HugeFault::done) return Handled::done;
    pte = mm.table.get(addr);
    if (write && is_uffd_protected(vma, pte)) pte = unprotect(mm, addr, pte);
  }
  if (!write || pte.write()) {
    count_handled(mm, page, Counter::fault_spurious, Rule::spurious, origin);
    return Handled::done;
  }
  end_wait(mm, pte);
  const Rule rule = mm.frames().is_large(pte.frame()) ? large_write_protect_rule(mm, addr, pte)
                                                      : write_protect_rule(mm.profile().wp_reuse, pte, mm.frames());
  if (reuses(rule)) {
    mm.frames().at(pte.frame()).set_exclusive(Exclusive::yes);
    set_pte(mm, addr, pte.with(Pte::kWrite | Pte::kWritten | Pte::kYoung));
    count_handled(mm, page, Counter::fault_reuse, rule, origin);
  } else {
    copy_page(mm, vma, addr, pte);
    count_handled(mm, page, Counter::fault_copy, rule, origin);
  }
  return Handled::done;
}

}  // namespace faultline::mm
