// The walk that gives entries another protection (change_protection): A.2, A.3, D.9.
#include <algorithm>

#include "mm/calls.h"
#include "mm/huge.h"
#include "mm/upgrade.h"
#include "mm/userfault.h"

namespace faultline::mm {
namespace {

/// Must a changed entry be flushed from the TLB (A.3)?
bool needs_flush(const Profile& profile, Pte before, Pte after) {
  switch (profile.protect_flush) {
    case ProtectFlush::when_changed:
    case ProtectFlush::always:
      return true;
    case ProtectFlush::when_needed:
      // An entry that granted nothing is in no TLB.
      return before.accessible() && before.protection() != after.protection();
  }
  return true;
}

/// What the entries of one walk get.
struct Wanted {
  std::uint64_t bits = 0;
  bool upgradable = false;
};

Wanted wanted(const Mm& mm, const Vma& vma, ProtectionChange change) {
  const Profile& profile = mm.profile();
  const std::uint64_t by_vma = protection_bits(profile, vma.flags);
  switch (change) {
    case ProtectionChange::by_vma:
      return {by_vma, may_upgrade(vma)};
    case ProtectionChange::uffd_protect:
      return {by_vma & ~Pte::kWrite, false};
    case ProtectionChange::uffd_unprotect:
      if (profile.uffd_unprotect == UffdUnprotect::upgrades) return {by_vma, may_upgrade(vma)};
      return {protection_bits(profile, vma.flags & ~VmFlags::uffd_wp), false};
  }
  return {};
}

Pte changed_entry(const Profile& profile, Pte before, const Wanted& what, ProtectionChange change) {
  const Pte after = before.with_protection(what.bits);
  if (change == ProtectionChange::uffd_protect) return after.with(uffd_mark(profile));
  return change == ProtectionChange::uffd_unprotect ? after.without(Pte::kUffdWp) : after;
}

/// The entries of a large folio that are changed together, all to what the first would become (change_present_ptes).
class FolioBatch {
 public:
  FolioBatch(const Mm& mm, Range range) : mm_(mm), range_(range) {}

  /// Can an entry have others with it? Most memory is of base pages, and each entry counts here.
  bool possible() const {
    return mm_.profile().protect_batch == ProtectBatch::folio && mm_.system.frames().had_large();
  }
  /// The entry as the change finds it. Entries are asked for in order, each before it is changed.
  Pte joined(Addr at, Pte pte) {
    if (at >= end_) begin(at, pte);
    return pte.with(gained_);
  }

 private:
  void begin(Addr at, Pte first) {
    end_ = at + kPageSize;
    gained_ = 0;
    const FramePool& frames = mm_.system.frames();
    if (first.huge() || first.zero_page() || !frames.is_large(first.frame())) return;
    const Addr table_end = huge_floor(at) + kHugeBytes;
    for (std::int64_t i = 1; end_ < std::min(range_.end, table_end); ++i, end_ = end_ + kPageSize) {
      constexpr std::uint64_t kOwn = Pte::kDirty | Pte::kYoung;
      const Pte next = mm_.table.get(end_);
      const bool alike = next.present() && next.without(kOwn) == first.without(kOwn).advanced(i);
      if (!alike || frames.head(next.frame()) != frames.head(first.frame())) return;
      if (next.dirty()) gained_ = Pte::kWritten;
    }
  }

  const Mm& mm_;
  const Range range_;
  Addr end_;
  std::uint64_t gained_ = 0;
};

}  // namespace

void change_protection(Mm& mm, const Vma& vma, Range range, FlushBatch& flush, ProtectionChange change) {
  const Wanted what = wanted(mm, vma, change);
  FolioBatch batch(mm, range);
  const bool batches = batch.possible();
  const bool lets_execute = (what.bits & Pte::kExec) != 0;
  std::uint64_t changed = 0;
  std::uint64_t upgraded = 0;
  std::uint64_t refused = 0;
  bool flush_needed = false;
  split_huge_ends(mm, range);
  mm.tlb.drop(range);
  const std::uint64_t looked_into = mm.table.tables_scanned();
  const std::uint64_t scanned = mm.table.update(range, [&](Addr at, Pte before) {
    if (before.uffd_marker() && change == ProtectionChange::uffd_unprotect) {
      ++changed;
      return Pte{};
    }
    if (!before.present()) return before;
    if (batches) [[unlikely]]
      before = batch.joined(at, before);
    Pte after = changed_entry(mm.profile(), before, what, change);
    if (what.upgradable && !after.write()) {
      const Rule rule = upgrade_rule(mm.profile(), vma, after, mm.system.frames());
      if (upgrades(rule)) {
        after = after.with(Pte::kWrite);
        ++upgraded;
      } else {
        ++refused;
      }
      mm.explain([&] {
        return Event{
            .kind = EventKind::upgrade, .range = mapped_range(at, after), .rule = rule, .write = upgrades(rule)};
      });
    }
    ++changed;
    // A huge page's entry is invalidated while it changes, which most kernels flush for by itself.
    if (after.huge() && mm.profile().protect_flush != ProtectFlush::when_needed) flush_now(mm, at, PageSize::huge);
    if (needs_flush(mm.profile(), before, after)) {
      flush.add(mapped_range(at, after), after.size());
      flush_needed = true;
    }
    if (lets_execute) [[unlikely]]
      sync_icache(mm, after);
    return after;
  });
  mm.count(Counter::ptes_scanned, scanned);
  mm.count(Counter::tables_scanned, mm.table.tables_scanned() - looked_into);
  mm.count(Counter::ptes_changed, changed);
  mm.count(Counter::ptes_upgraded, upgraded);
  mm.count(Counter::ptes_refused, refused);
  if (mm.profile().protect_flush == ProtectFlush::when_changed) {
    // No gathering yet: each VMA's whole range is flushed at once.
    if (flush_needed) flush.add(range);
    flush.perform();
  } else {
    flush.end_vma();
  }
}

}  // namespace faultline::mm
