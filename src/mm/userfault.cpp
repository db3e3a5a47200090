// How a userfaultfd answers faults, and what it does to entries: D.9.
#include "mm/userfault.h"

#include <array>

#include "mm/calls.h"
#include "mm/page_lists.h"

namespace faultline::mm {
namespace {

/// Are addresses protected too where no page is?
bool uses_markers(const Mm& mm, const Vma& vma) {
  return vma.object != nullptr || has(watcher(mm, vma)->features(), UffdFeatures::wp_unpopulated);
}

/// Puts a marker wherever nothing is, and the tables that hold them.
void place_markers(Mm& mm, Range range) {
  std::uint64_t placed = 0;
  for (Addr at = range.start; at < range.end; at = at + kPageSize) {
    if (!mm.table.get(at).none()) continue;
    set_pte(mm, at, Pte::uffd_wp_marker());
    ++placed;
  }
  mm.count(Counter::ptes_changed, placed);
}

/// What the machine's own handler does for the thread that waits.
void answer(Mm& mm, Vma& vma, Addr addr, Userfault why) {
  mm.count(Counter::mmap_lock_read);
  if (why == Userfault::write_protected) {
    protect_by_uffd(mm, vma, Range::of(addr, kPageSize), UffdProtect::none);
    return;
  }
  constexpr std::array<std::uint8_t, kPageSize> kZeroes{};
  static_cast<void>(fill_page(mm, vma, addr, kZeroes, UffdFill::none));
}

/// Tries a fault again that has waited. What that does is part of the same exception, of which one kind is counted.
Handled try_again(Mm& mm, Vma& vma, Addr addr, arch::Report access, FaultOrigin origin) {
  constexpr auto kKinds =
      std::to_array({Counter::minor_faults, Counter::fault_read, Counter::fault_write, Counter::fault_file,
                     Counter::fault_copy, Counter::fault_reuse, Counter::fault_spurious, Counter::populated});
  const Counters before = mm.counters;
  const Handled handled = resolve(mm, vma, addr, access, origin);
  for (const Counter kind : kKinds) mm.counters[kind] = before[kind];
  return handled;
}

}  // namespace

Userfaultfd* watcher(const Mm& mm, const Vma& vma) {
  return vma.uffd == 0 ? nullptr : mm.uffds[static_cast<std::size_t>(vma.uffd) - 1];
}

bool is_uffd_async(const Mm& mm, const Vma& vma) {
  return vma.uffd != 0 && has(watcher(mm, vma)->features(), UffdFeatures::wp_async);
}

Handled handle_userfault(Mm& mm, Vma& vma, Addr addr, Userfault why, arch::Report access, FaultOrigin origin) {
  const Userfaultfd& uffd = *watcher(mm, vma);
  const bool kernels = origin != FaultOrigin::exception;
  const bool waits =
      !has(uffd.features(), UffdFeatures::sigbus) && !(kernels && has(uffd.flags(), UffdFlags::user_mode_only));
  if (!waits) return Handled::unanswered;
  const Rule rule = why == Userfault::missing ? Rule::uffd_missing : Rule::uffd_write_protected;
  count_handled(mm, Range::of(addr, kPageSize), Counter::fault_uffd, rule, origin);
  answer(mm, vma, addr, why);
  return try_again(mm, vma, addr, access, origin);
}

void keep_uffd_protection(Mm& mm, Addr addr) {
  set_pte(mm, addr, mm.table.get(addr).with(Pte::kUffdWp).without(Pte::kWrite));
}

void protect_by_uffd(Mm& mm, const Vma& vma, Range range, UffdProtect mode) {
  const bool protects = has(mode, UffdProtect::wp);
  FlushBatch flush(mm);
  change_protection(mm, vma, range, flush,
                    protects ? ProtectionChange::uffd_protect : ProtectionChange::uffd_unprotect);
  flush.perform();
  if (protects && uses_markers(mm, vma)) place_markers(mm, range);
}

namespace {

Result<void> fill_cache(Mm& mm, const Vma& vma, Addr addr, std::span<const std::uint8_t> bytes, std::uint64_t bits) {
  const std::uint64_t page = vma.pgoff_at(addr);
  if (vma.object->find(page)) return fail(EEXIST);
  const Result<FrameId> added = vma.object->add(page);
  if (!added) return std::unexpected(added.error());
  if (!bytes.empty()) mm.frames().write(*added, 0, bytes);
  // Where the entry is dirty 5.10 leaves the page clean, which the first write through another mapping meets.
  const bool clean = mm.profile().first_write == FirstWrite::retried && vma.is(VmFlags::write);
  if (!clean) mm.frames().at(*added).set_dirty();
  add_to_lru(mm, *added);
  mm.frames().map(*added);
  set_pte(mm, addr, Pte::make(*added, protection_bits(mm.profile(), vma.flags) | bits));
  return {};
}

}  // namespace

Result<void> fill_page(Mm& mm, Vma& vma, Addr addr, std::span<const std::uint8_t> bytes, UffdFill mode) {
  const bool shared = vma.is(VmFlags::shared);
  if (!shared) prepare_anon_vma(mm, vma);
  const Pte there = mm.table.get(addr);
  const bool zero_page = !shared && bytes.empty() && mm.profile().zero_page != ZeroPage::forbidden;
  if (vma.object != nullptr && vma.pgoff_at(addr) >= vma.object->pages()) return fail(EFAULT);
  const bool replaces = there.vacant() || (there.guard() && mm.profile().uffd_guard == UffdGuard::replaced);
  if (zero_page ? !there.none() : !replaces) return fail(EEXIST);
  const std::uint64_t by_vma = protection_bits(mm.profile(), vma.flags);
  if (zero_page) {
    set_pte(mm, addr, Pte::make(kZeroFrame, by_vma | Pte::kYoung));
    return {};
  }
  const bool protects = has(mode, UffdFill::wp);
  const std::uint64_t write = protects ? uffd_mark(mm.profile()) : vma.is(VmFlags::write) ? Pte::kWrite : 0;
  const std::uint64_t bits = Pte::kYoung | Pte::kWritten | write;
  mm.count(bytes.empty() ? Counter::pages_zeroed : Counter::pages_copied);
  if (shared) return fill_cache(mm, vma, addr, bytes, bits);
  const FrameId frame = mm.frames().allocate();
  if (!bytes.empty()) mm.frames().write(frame, 0, bytes);
  add_new_page(mm, vma, frame);
  mm.frames().map_new(frame);
  mm.frames().at(frame).set_exclusive(Exclusive::yes);
  set_pte(mm, addr, Pte::make(frame, by_vma | bits));
  return {};
}

}  // namespace faultline::mm
