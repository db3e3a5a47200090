#include "mm/invariants.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <charconv>

#include "mm/fault.h"
#include "mm/numa_hint.h"
#include "mm/soft_dirty.h"
#include "mm/userfault.h"

namespace faultline::mm {
namespace {

std::string hex(Addr addr) {
  std::array<char, 18> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), addr.value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string at(std::string_view what, Addr addr) { return std::string(what) + " at " + hex(addr); }

std::optional<std::string> check_vmas(const Mm& mm, Range everything) {
  std::optional<std::string> wrong;
  std::uint64_t seen = 0;
  Usage usage;
  Addr previous_end{0};
  mm.vmas.each(everything, [&](const Vma& vma) {
    ++seen;
    usage.add(vma.flags, vma.pages());
    if (wrong) return;
    if (!vma.start.page_aligned() || !vma.end.page_aligned()) wrong = at("VMA not page aligned", vma.start);
    if (vma.end <= vma.start) wrong = at("VMA empty or inverted", vma.start);
    if (vma.start < previous_end) wrong = at("VMA overlaps its lower neighbour", vma.start);
    if ((vma.anon_vma == 0) != (vma.chain == 0)) wrong = at("VMA whose anon_vma and chain disagree", vma.start);
    if (mm.profile().seal == Seal::absent && vma.is(VmFlags::sealed)) wrong = at("VMA sealed without mseal", vma.start);
    if ((vma.uffd != 0) != vma.is(kUffdFlags)) wrong = at("VMA whose userfaultfd and flags disagree", vma.start);
    if (vma.uffd != 0 && (vma.uffd > mm.uffds.size() || watcher(mm, vma) == nullptr)) {
      wrong = at("VMA watched by a userfaultfd that is closed", vma.start);
    }
    previous_end = vma.end;
  });
  if (!wrong && usage != mm.usage) wrong = "what counts against limits is not the sum of the VMAs";
  if (!wrong && seen != mm.vmas.size()) wrong = "the count of VMAs is not the number of VMAs";
  return wrong;
}

/// The same for the page of an object's cache.
std::string_view cached_violation(const Vma& vma, Pte pte, const Frame& frame, Addr addr) {
  if (vma.object == nullptr) return "page of a file in anonymous memory";
  const std::uint64_t page = vma.pgoff_at(addr);
  if (vma.object->find(page) != pte.frame()) return "page that is not the one its file has there";
  if (page >= vma.object->pages()) return "page beyond the end of its file";
  if (pte.write() && !vma.is(VmFlags::shared)) return "file's page writable through a private mapping";
  if (frame.exclusive() == Exclusive::yes) return "file's page marked exclusive";
  return "";
}

/// What is wrong with one entry, given the VMA that should hold it.
std::string_view entry_violation(const Mm& mm, const Vma* vma, Addr addr, Pte pte) {
  if (vma == nullptr) return "PTE outside of every VMA";
  if (pte.uffd_marker()) return "";
  const bool may_be_stale = mm.profile().uffd_unregister == UffdUnregister::keeps_protection ||
                            mm.profile().uffd_move == UffdMove::keeps_protection;
  if (pte.write() && is_uffd_protected(*vma, pte) && !may_be_stale) return "PTE writable that a userfaultfd protects";
  if (pte.uffd_wp() && !vma->is(VmFlags::uffd_wp) && !may_be_stale) return "PTE protected that no userfaultfd watches";
  if (pte.guard()) {
    const bool needs = vma->object == nullptr || mm.profile().guard_mark != GuardMark::flag;
    return needs && vma->anon_vma == 0 ? "guard marker in a VMA without anon_vma" : "";
  }
  if (pte.write() && !vma->is(VmFlags::write)) return "PTE writable in a VMA that is not";
  const bool hinted = mm.has_numa_hints && is_numa_hint(*vma, pte);  // grants nothing for now
  constexpr std::uint64_t kByVma = Pte::kRead | Pte::kExec | Pte::kKey;
  if (!hinted && (pte.protection() & kByVma) != (protection_bits(mm.profile(), vma->flags) & kByVma)) {
    return "PTE grants other than what its VMA does";
  }
  // The v5 patch asks the wrong way round (A.5).
  const bool sees_writes = mm.profile().upgrade != Upgrade::page_count;
  const bool unseen = pte.write() && !pte.soft_dirty() && tracks_soft_dirty(mm.profile(), vma->flags);
  if (sees_writes && unseen && !vma->is(VmFlags::shared)) {
    return "PTE writable in a VMA whose writes soft-dirty tracking has to see";
  }
  if (pte.zero_page() && vma->object != nullptr) return "zero page in the mapping of a file";
  if (pte.zero_page()) return pte.has(Pte::kWrite | Pte::kDirty) ? "zero page writable or dirty" : "";
  const FramePool& frames = mm.system.frames();
  const Frame& frame = frames.at(pte.frame());
  if (frame.cached()) return cached_violation(*vma, pte, frame, addr);
  if (vma->is(VmFlags::shared)) return "anonymous page in shared memory";
  const bool exclusive = is_exclusive(frames, pte);
  if (vma->anon_vma == 0) return "anonymous page in a VMA without anon_vma";
  if (pte.write() && frame.mappings() != 1) return "PTE writable to a page that others map";
  // The v5 patch goes by the reference count, and may leave a page unmarked that a child shared once.
  const bool marked = mm.profile().upgrade != Upgrade::page_count;
  if (marked && pte.write() && !exclusive) {
    return "PTE writable to a page that is not exclusive";
  }
  if (exclusive && frame.mappings() != 1) return "exclusive page mapped more than once";
  if (frame.mappings() == 0 || frames.references(pte.frame()) < frame.mappings())
    return "frame with fewer references than PTEs";
  return "";
}

std::optional<std::string> check_entries(const Mm& mm, Range everything) {
  std::optional<std::string> wrong;
  const Vma* vma = nullptr;
  mm.table.each(everything, [&](Range part, Pte pte) {
    if (wrong) return;
    if (vma == nullptr || !vma->range().contains(part)) vma = mm.vmas.at(part.start);
    if (const auto text = entry_violation(mm, vma, part.start, pte); !text.empty()) wrong = at(text, part.start);
    if (vma != nullptr && !vma->range().contains(part)) wrong = at("huge page across the bound of its VMA", part.start);
    for (Addr page = part.start; page < part.end; page = page + kPageSize) {
      if (mm.tlb.lookup(page, Tlb::kStore) != nullptr && !pte.write()) {
        wrong = at("TLB allows a store that the PTE does not", page);
      }
    }
  });
  return wrong;
}

/// Counts what points to each frame, in every address space and every object that one maps.
struct Pointers {
  absl::flat_hash_map<std::uint32_t, std::uint32_t> entries;  // by page
  absl::flat_hash_map<std::uint32_t, std::uint32_t> folios;   // by the folio's first page
  absl::flat_hash_set<const Shmem*> objects;

  explicit Pointers(const System& system) {
    for (const Mm* mm : system.spaces()) {
      const Range everything{Addr{0}, mm->geometry().task_size};
      mm->table.each(everything, [&](Range part, Pte pte) {
        if (!pte.present() || pte.zero_page()) return;
        ++folios[system.frames().head(pte.frame()).index];
        for (std::uint32_t i = 0; i < part.pages(); ++i) ++entries[pte.frame().index + i];
      });
      mm->vmas.each(everything, [&](const Vma& vma) {
        if (vma.object != nullptr) objects.insert(vma.object);
      });
    }
  }
};

std::string frame_text(std::uint32_t index) { return "frame " + std::to_string(index); }

std::optional<std::string> check_frames(const System& system) {
  const Pointers pointers(system);
  const FramePool& frames = system.frames();
  for (const auto& [index, count] : pointers.entries) {
    if (frames.at(FrameId{index}).mappings() != count) {
      return frame_text(index) + " counts other mappings than PTEs point to it";
    }
  }
  for (const auto& [index, count] : pointers.folios) {
    const std::uint32_t needed = count + (frames.at(FrameId{index}).cached() ? 1 : 0);
    if (frames.references(FrameId{index}) < needed) return frame_text(index) + " has too few references";
  }
  std::optional<std::string> wrong;
  for (const Shmem* object : pointers.objects) {
    object->each(0, ~std::uint64_t{0}, [&](std::uint64_t page, FrameId id) {
      const Frame& frame = system.frames().at(id);
      if (!frame.cached()) wrong = frame_text(id.index) + " is in a cache and does not know it";
      const auto mapped = pointers.entries.find(id.index);
      const std::uint32_t count = mapped == pointers.entries.end() ? 0 : mapped->second;
      if (frame.mappings() != count) wrong = frame_text(id.index) + " of a cache counts other mappings than PTEs";
      // A write that failed may have left one just there (D.8).
      const bool left = system.profile().write_prefault == WritePrefault::on_failure && page == object->pages();
      if (page >= object->pages() && !left) wrong = frame_text(id.index) + " lies beyond the end of its file";
    });
  }
  return wrong;
}

}  // namespace

std::optional<std::string> find_violation(const Mm& mm) {
  const Range everything{Addr{0}, mm.geometry().task_size};
  if (auto wrong = check_vmas(mm, everything)) return wrong;
  if (auto wrong = check_entries(mm, everything)) return wrong;
  return check_frames(mm.system);
}

}  // namespace faultline::mm
