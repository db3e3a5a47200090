// How a permitted fault is resolved: A.6 and A.7.
#include "mm/fault.h"
#include "mm/huge.h"
#include "mm/upgrade.h"

namespace faultline::mm {

void count_handled(Mm& mm, Range mapped, Counter kind, Rule rule, FaultOrigin origin) {
  const bool populating = origin == FaultOrigin::populate;
  const Counter counter = populating ? Counter::populated : kind;
  mm.count(counter, populating ? mapped.pages() : 1);
  mm.explain([&] { return Event{.kind = EventKind::handled, .range = mapped, .rule = rule, .counter = counter}; });
}

namespace {

/// The entry of a page that this VMA now owns alone.
Pte owned_entry(const Mm& mm, const Vma& vma, FrameId frame) {
  const std::uint64_t write = vma.is(VmFlags::write) ? Pte::kWrite | Pte::kDirty : 0;
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
  add_to_lru(mm);
  const FrameId copy = from_zero ? mm.frames().allocate() : mm.frames().allocate_copy(old.frame());
  if (old.accessible()) flush_now(mm, addr, PageSize::base);
  if (!from_zero) mm.count(Counter::pages_unmapped);
  mm.frames().unmap(old.frame());
  map_owned(mm, vma, addr, copy);
}

}  // namespace

Handled resolve(Mm& mm, Vma& vma, Addr addr, arch::Report access, FaultOrigin origin) {
  addr = addr.page_floor();
  const bool write = access == arch::Report::write;
  const Range page = Range::of(addr, kPageSize);
  Pte pte = mm.table.get(addr);
  if (pte.guard()) return Handled::guarded;
  if (pte.none() && vma.object != nullptr) {
    return resolve_file(mm, vma, addr, write ? Direction::write : Direction::read, origin);
  }
  mm.count(Counter::minor_faults);
  if (pte.none() && huge_page_allowed(mm, vma, addr) && !mm.table.has_table(addr)) {
    fault_in_huge(mm, vma, addr, access, origin);
    return Handled::done;
  }
  if (pte.huge()) {
    if (resolve_huge(mm, vma, addr, access, origin) == HugeFault::done) return Handled::done;
    pte = mm.table.get(addr);
  }
  if (pte.none()) {
    if (!write && mm.profile().zero_page == ZeroPage::shared) {
      map_zero_page(mm, vma, addr);
      count_handled(mm, page, Counter::fault_read, Rule::zero_page_for_read, origin);
      return Handled::done;
    }
    prepare_anon_vma(mm, vma);
    mm.count(Counter::pages_zeroed);
    add_to_lru(mm);
    map_owned(mm, vma, addr, mm.frames().allocate());
    if (write) {
      count_handled(mm, page, Counter::fault_write, Rule::new_page_for_write, origin);
    } else {
      count_handled(mm, page, Counter::fault_read, Rule::new_page_for_read, origin);
    }
    return Handled::done;
  }
  if (!write || pte.write()) {
    count_handled(mm, page, Counter::fault_spurious, Rule::spurious, origin);
    return Handled::done;
  }
  const Rule rule = mm.frames().is_large(pte.frame()) ? large_write_protect_rule(mm, addr, pte)
                                                      : write_protect_rule(mm.profile().wp_reuse, pte, mm.frames());
  if (reuses(rule)) {
    mm.frames().at(pte.frame()).set_exclusive(Exclusive::yes);
    set_pte(mm, addr, pte.with(Pte::kWrite | Pte::kDirty | Pte::kYoung));
    count_handled(mm, page, Counter::fault_reuse, rule, origin);
  } else {
    copy_page(mm, vma, addr, pte);
    count_handled(mm, page, Counter::fault_copy, rule, origin);
  }
  return Handled::done;
}

}  // namespace faultline::mm
