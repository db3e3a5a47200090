// Faults in mappings of an object: a memfd, or shared anonymous memory (do_fault).
#include "mm/fault.h"
#include "mm/page_lists.h"
#include "mm/userfault.h"

namespace faultline::mm {
namespace {

/// The bytes around a read fault in which the kernel also maps what the cache already holds (fault_around_bytes).
constexpr std::uint64_t kAround = 16 * kPageSize;

Pte cache_entry(const Mm& mm, const Vma& vma, FrameId frame) {
  return Pte::make(frame, protection_bits(mm.profile(), vma.flags) | Pte::kYoung);
}

void map_cached(Mm& mm, const Vma& vma, Addr addr, FrameId frame, Pte pte) {
  mm.frames().map(frame);
  if (vma.is(VmFlags::locked) && mm.profile().mlock_pages == MlockPages::batched) lock_page(mm, frame);
  set_pte(mm, addr, pte);
}

/// The cached page of that number; one is made where there is none, for reads too. Nothing beyond the object's end, and
/// where no memory is promised.
std::optional<FrameId> cached_page(Mm& mm, Shmem& object, std::uint64_t page) {
  mm.count(Counter::pages_asked);
  if (page >= object.pages()) return std::nullopt;
  if (const auto found = object.find(page)) return found;
  const Result<FrameId> added = object.add(page);
  if (!added) return std::nullopt;
  mm.count(Counter::pages_zeroed);
  mm.count(Counter::pages_cached);
  add_to_lru(mm, *added);
  return *added;
}

/// Maps the cached pages around a read fault (do_fault_around). Was that of `addr` among them?
bool map_around(Mm& mm, const Vma& vma, Addr addr) {
  const Addr first = std::max(Addr{addr.value & ~(kAround - 1)}, vma.start);
  constexpr std::uint64_t kTable = std::uint64_t{1} << entry_shift(Level::pmd);
  const Addr table_end{(addr.value & ~(kTable - 1)) + kTable};
  const Addr last = std::min({first + kAround, vma.end, table_end});
  const std::uint64_t from = vma.pgoff_at(first);
  bool mapped = false;
  vma.object->each(from, std::min(from + Range{first, last}.pages(), vma.object->pages()),
                   [&](std::uint64_t page, FrameId frame) {
                     const Addr at = first + ((page - from) << kPageShift);
                     if (!mm.table.get(at).none()) return;
                     map_cached(mm, vma, at, frame, cache_entry(mm, vma, frame));
                     mm.count(Counter::pages_around, at == addr ? 0 : 1);
                     mapped |= at == addr;
                   });
  return mapped;
}

/// A fault has made a shared page writable (fault_dirty_shared_page); `kind` and `rule` say how.
Handled end_first_write(Mm& mm, Addr addr, Frame& frame, FaultOrigin origin, Counter kind, Rule rule) {
  const bool retried = !frame.dirty() && mm.profile().first_write == FirstWrite::retried;
  frame.set_dirty();
  // The second attempt finds the entry in place.
  const bool again = retried || origin == FaultOrigin::populate_again;
  mm.count(again ? Counter::mmap_lock_read : Counter::minor_faults);
  count_handled(mm, Range::of(addr, kPageSize), kind, retried ? Rule::file_page_retried : rule, origin);
  return Handled::done;
}

}  // namespace

Handled resolve_write_notify(Mm& mm, Addr addr, Pte pte, FaultOrigin origin) {
  set_pte(mm, addr, pte.with(Pte::kWrite | Pte::kWritten | Pte::kYoung));
  return end_first_write(mm, addr, mm.frames().at(pte.frame()), origin, Counter::fault_reuse, Rule::write_notified);
}

Handled resolve_file(Mm& mm, Vma& vma, Addr addr, Direction direction, FaultOrigin origin) {
  Shmem& object = *vma.object;
  const std::uint64_t page = vma.pgoff_at(addr);
  const bool marked = mm.table.get(addr).uffd_marker() && vma.is(VmFlags::uffd_wp);
  const bool copies = direction == Direction::write && !vma.is(VmFlags::shared);
  if (copies) prepare_anon_vma(mm, vma);
  const bool missing = vma.is(VmFlags::uffd_missing) && page < object.pages() && !object.find(page);
  if (missing) {
    if (direction == Direction::read && !vma.is(VmFlags::uffd_wp)) map_around(mm, vma, addr);
    const auto access = direction == Direction::write ? arch::Report::write : arch::Report::read;
    return handle_userfault(mm, vma, addr, Userfault::missing, access, origin);
  }
  if (copies) {
    const auto source = cached_page(mm, object, page);
    if (!source) return Handled::no_page;
    mm.count(Counter::minor_faults);
    mm.count(Counter::pages_copied);
    const FrameId copy = mm.frames().allocate_copy(*source);
    add_new_page(mm, vma, copy);
    map_owned(mm, vma, addr, copy);
    if (marked) keep_uffd_protection(mm, addr);
    count_handled(mm, Range::of(addr, kPageSize), Counter::fault_copy, Rule::file_page_copied, origin);
    return Handled::done;
  }
  if (direction == Direction::write) {
    const auto frame = cached_page(mm, object, page);
    if (!frame) return Handled::no_page;
    map_cached(mm, vma, addr, *frame, cache_entry(mm, vma, *frame).with(Pte::kWrite | Pte::kWritten));
    if (marked) keep_uffd_protection(mm, addr);
    return end_first_write(mm, addr, mm.frames().at(*frame), origin, Counter::fault_file, Rule::file_page);
  }
  // What is protected is found page by page.
  if (vma.is(VmFlags::uffd_wp) || !map_around(mm, vma, addr)) {
    const auto frame = cached_page(mm, object, page);
    if (!frame) return Handled::no_page;
    map_cached(mm, vma, addr, *frame, cache_entry(mm, vma, *frame));
    if (marked) keep_uffd_protection(mm, addr);
  }
  mm.count(Counter::minor_faults);
  count_handled(mm, Range::of(addr, kPageSize), Counter::fault_file, Rule::file_page, origin);
  return Handled::done;
}

}  // namespace faultline::mm
