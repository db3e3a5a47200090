#include "mm/invariants.h"

#include <absl/container/flat_hash_map.h>

#include <charconv>

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
  Addr previous_end{0};
  mm.vmas.each(everything, [&](const Vma& vma) {
    ++seen;
    if (wrong) return;
    if (!vma.start.page_aligned() || !vma.end.page_aligned()) wrong = at("VMA not page aligned", vma.start);
    if (vma.end <= vma.start) wrong = at("VMA empty or inverted", vma.start);
    if (vma.start < previous_end) wrong = at("VMA overlaps its lower neighbour", vma.start);
    if ((vma.anon_vma == 0) != (vma.chain == 0)) wrong = at("VMA whose anon_vma and chain disagree", vma.start);
    if (mm.profile().seal == Seal::absent && vma.is(VmFlags::sealed)) wrong = at("VMA sealed without mseal", vma.start);
    previous_end = vma.end;
  });
  if (!wrong && seen != mm.vmas.size()) wrong = "the count of VMAs is not the number of VMAs";
  return wrong;
}

/// What is wrong with one entry, given the VMA that should hold it.
std::string_view entry_violation(const Mm& mm, const Vma* vma, Pte pte) {
  if (vma == nullptr) return "PTE outside of every VMA";
  if (pte.guard()) return vma->anon_vma == 0 ? "guard marker in a VMA without anon_vma" : "";
  if (pte.write() && !vma->is(VmFlags::write)) return "PTE writable in a VMA that is not";
  constexpr std::uint64_t kDefault = Pte::kRead | Pte::kExec | Pte::kKeyDenied;
  if ((pte.protection() & kDefault) != protection_bits(mm.profile(), vma->flags)) {
    return "PTE grants other than what its VMA does";
  }
  if (pte.zero_page()) return pte.has(Pte::kWrite | Pte::kDirty) ? "zero page writable or dirty" : "";
  const Frame& frame = mm.system.frames().at(pte.frame());
  if (vma->anon_vma == 0) return "anonymous page in a VMA without anon_vma";
  if (pte.write() && frame.mappings() != 1) return "PTE writable to a page that others map";
  // The v5 patch goes by the reference count, and may leave a page unmarked that a child shared once.
  const bool marked = mm.profile().upgrade != Upgrade::page_count;
  if (marked && pte.write() && frame.exclusive() == Exclusive::no) {
    return "PTE writable to a page that is not exclusive";
  }
  if (frame.exclusive() == Exclusive::yes && frame.mappings() != 1) return "exclusive page mapped more than once";
  if (frame.mappings() == 0 || frame.references() < frame.mappings()) return "frame with fewer references than PTEs";
  return "";
}

std::optional<std::string> check_entries(const Mm& mm, Range everything) {
  std::optional<std::string> wrong;
  absl::flat_hash_map<std::uint32_t, std::uint32_t> mapped;
  const Vma* vma = nullptr;
  mm.table.each(everything, [&](Addr addr, Pte pte) {
    if (wrong) return;
    if (vma == nullptr || !vma->range().contains(addr)) vma = mm.vmas.at(addr);
    if (const auto text = entry_violation(mm, vma, pte); !text.empty()) wrong = at(text, addr);
    if (pte.present() && !pte.zero_page()) ++mapped[pte.frame().index];
    if (const auto* hit = mm.tlb.lookup(addr, Tlb::kStore); hit != nullptr && !pte.write()) {
      wrong = at("TLB allows a store that the PTE does not", addr);
    }
  });
  for (const auto& [index, count] : mapped) {
    if (!wrong && mm.system.frames().at(FrameId{index}).mappings() < count) {
      wrong = "frame " + std::to_string(index) + " counts fewer mappings than PTEs point to it";
    }
  }
  return wrong;
}

}  // namespace

std::optional<std::string> find_violation(const Mm& mm) {
  const Range everything{Addr{0}, mm.geometry().task_size};
  if (auto wrong = check_vmas(mm, everything)) return wrong;
  return check_entries(mm, everything);
}

}  // namespace faultline::mm
