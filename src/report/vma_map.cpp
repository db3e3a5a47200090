#include "report/vma_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "mm/merge.h"
#include "mm/soft_dirty.h"
#include "report/event_text.h"
#include "report/format.h"

namespace faultline::report {
namespace {

using mm::Vma;
using mm::VmFlags;

constexpr std::uint64_t kMostColumns = 6;  // of a stretch of pages that is drawn page by page
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr char kNoVma = ' ';
constexpr std::ptrdiff_t kNeighbours = 2;  // that are drawn on either side of the range

/// What the permissions "rw-s" say already, or what is so of nearly every VMA.
constexpr VmFlags kInPermissions =
    VmFlags::access | VmFlags::may_access | VmFlags::shared | VmFlags::may_share | VmFlags::soft_dirty;

constexpr auto kFlagNames = std::to_array<std::pair<VmFlags, std::string_view>>({
    {VmFlags::read, "read"},
    {VmFlags::write, "write"},
    {VmFlags::exec, "exec"},
    {VmFlags::shared, "shared"},
    {VmFlags::may_read, "may read"},
    {VmFlags::may_write, "may write"},
    {VmFlags::may_exec, "may exec"},
    {VmFlags::may_share, "may share"},
    {VmFlags::grows_down, "growsdown"},
    {VmFlags::locked, "locked"},
    {VmFlags::seq_read, "sequential"},
    {VmFlags::rand_read, "random"},
    {VmFlags::dontcopy, "dontfork"},
    {VmFlags::lock_on_fault, "lockonfault"},
    {VmFlags::account, "account"},
    {VmFlags::noreserve, "noreserve"},
    {VmFlags::wipeonfork, "wipeonfork"},
    {VmFlags::dontdump, "dontdump"},
    {VmFlags::hugepage, "hugepage"},
    {VmFlags::nohugepage, "nohugepage"},
    {VmFlags::mergeable, "mergeable"},
    {VmFlags::droppable, "droppable"},
    {VmFlags::pkey, "protection key"},
    {VmFlags::soft_dirty, "soft-dirty"},
    {VmFlags::uffd_missing, "uffd missing"},
    {VmFlags::uffd_wp, "uffd write-protect"},
    {VmFlags::sealed, "sealed"},
});

struct Lettered {
  Vma vma;
  char letter;
};

bool same(const Vma& a, const Vma& b) {
  return a.range() == b.range() && a.flags == b.flags && a.pgoff == b.pgoff && a.anon_vma == b.anon_vma &&
         a.chain == b.chain && a.name == b.name && a.object == b.object && a.uffd == b.uffd;
}

std::vector<Lettered> lettered(const std::vector<Vma>& vmas) {
  std::vector<Lettered> result;
  for (const Vma& vma : vmas) result.push_back({vma, kLetters[result.size() % kLetters.size()]});
  return result;
}

/// The letters of `before` go to those VMAs that hold most of what they held; others get new ones.
std::vector<Lettered> inherited(const std::vector<Vma>& vmas, const std::vector<Lettered>& before) {
  std::vector<Lettered> result;
  for (const Vma& vma : vmas) result.push_back({vma, kNoVma});
  for (const Lettered& old : before) {
    Lettered* heir = nullptr;
    std::uint64_t most = 0;
    for (Lettered& candidate : result) {
      const std::uint64_t common = candidate.vma.range().intersect(old.vma.range()).bytes();
      if (candidate.letter != kNoVma || common <= most) continue;
      heir = &candidate;
      most = common;
    }
    if (heir != nullptr) heir->letter = old.letter;
  }
  std::size_t next = before.size();
  for (Lettered& vma : result) {
    if (vma.letter == kNoVma) vma.letter = kLetters[next++ % kLetters.size()];
  }
  return result;
}

/// The bounds of the VMAs that overlap the range and of kNeighbours more on either side.
Range neighbourhood(const std::vector<Vma>& vmas, Range range) {
  const auto ends_below = [](const Vma& vma, Addr addr) { return vma.end <= addr; };
  const auto starts_below = [](const Vma& vma, Addr addr) { return vma.start < addr; };
  const auto first = std::lower_bound(vmas.begin(), vmas.end(), range.start, ends_below);
  const auto last = std::lower_bound(first, vmas.end(), range.end, starts_below);
  Range found = range;
  if (const auto below = std::min<std::ptrdiff_t>(kNeighbours, first - vmas.begin()); below > 0) {
    found.start = std::min(found.start, (first - below)->start);
  }
  if (first != last) found.start = std::min(found.start, first->start);
  if (first != last) found.end = std::max(found.end, (last - 1)->end);
  if (const auto above = std::min<std::ptrdiff_t>(kNeighbours, vmas.end() - last); above > 0) {
    found.end = std::max(found.end, (last + above - 1)->end);
  }
  return found;
}

/// The part that is drawn: around the range, and no more VMAs than a reader can take in.
VmaChange focused(const VmaChange& change) {
  VmaChange part = change;
  if (change.worked_on) {
    const Range before = neighbourhood(change.before, *change.worked_on);
    const Range after = neighbourhood(change.after, *change.worked_on);
    const Range window{std::min(before.start, after.start), std::max(before.end, after.end)};
    for (auto* vmas : {&part.before, &part.after}) {
      std::erase_if(*vmas, [&](const Vma& vma) { return !vma.range().overlaps(window); });
    }
  }
  Addr limit{~std::uint64_t{0}};
  for (const auto* vmas : {&part.before, &part.after}) {
    if (vmas->size() > kMostDrawnVmas) limit = std::min(limit, (*vmas)[kMostDrawnVmas].start);
  }
  for (auto* vmas : {&part.before, &part.after}) {
    std::erase_if(*vmas, [&](const Vma& vma) { return vma.start >= limit; });
  }
  if (part.worked_on) part.worked_on->end = std::clamp(limit, part.worked_on->start, part.worked_on->end);
  return part;
}

/// Addresses between which nothing begins or ends, on any line.
std::vector<Addr> cuts(const VmaChange& change) {
  std::vector<Addr> addresses;
  const auto add = [&](Range range) {
    addresses.push_back(range.start);
    addresses.push_back(range.end);
  };
  for (const auto* vmas : {&change.before, &change.after}) {
    for (const Vma& vma : *vmas) add(vma.range());
  }
  if (change.worked_on) add(*change.worked_on);
  std::ranges::sort(addresses);
  const auto rest = std::ranges::unique(addresses);
  addresses.erase(rest.begin(), rest.end());
  return addresses;
}

/// A line of the drawing: `letter_at` gives what stands at an address, `long_gap` stands for many pages of nothing.
template <class LetterAt>
std::string drawn(const std::vector<Addr>& cuts, std::string_view long_gap, LetterAt letter_at) {
  std::string text;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const std::uint64_t pages = Range{cuts[i], cuts[i + 1]}.pages();
    const char letter = letter_at(cuts[i]);
    if (pages <= kMostColumns) {
      text.append(pages, letter);
    } else if (letter == kNoVma) {
      text += long_gap;
    } else {
      text += fmt::format("{0}{0}…{0}{0}", letter);
    }
  }
  text.resize(text.find_last_not_of(' ') + 1);
  return text.empty() ? "nothing" : text;
}

std::string drawn_vmas(const std::vector<Addr>& cuts, const std::vector<Lettered>& vmas) {
  return drawn(cuts, "  …  ", [&](Addr addr) {
    const auto found = std::ranges::find_if(vmas, [&](const Lettered& l) { return l.vma.range().contains(addr); });
    return found == vmas.end() ? kNoVma : found->letter;
  });
}

std::string anon_vma_text(const Vma& vma) {
  if (vma.anon_vma == 0) return "no anon_vma";
  return fmt::format("anon_vma {}{}", vma.anon_vma, vma.chain > 1 ? ", cloned by fork" : "");
}

std::string apart_text(const mm::Profile& profile, const Lettered& low, const Lettered& high) {
  const mm::Rule rule = mm::why_apart(profile, low.vma, high.vma);
  if (rule == mm::Rule::no_merge_gap) return {};
  if (rule == mm::Rule::merged) return fmt::format("like {}, but no call has looked at both since", low.letter);
  return fmt::format("not merged with {}: {}", low.letter, apart_reason(profile, low.vma, high.vma));
}

std::string legend(const mm::Profile& profile, const mm::VmaNames* names, const std::vector<Lettered>& vmas) {
  std::string text;
  for (std::size_t i = 0; i < vmas.size(); ++i) {
    const Vma& vma = vmas[i].vma;
    mm::Event area;
    area.range = vma.range();
    area.prot = mm::prot_of(vma.flags);
    area.backing = mm::backing_of(vma);
    std::string line = fmt::format("{}  {}", vmas[i].letter, vma_text(area));
    if (vma.name != mm::kUnnamed && names != nullptr) line += fmt::format(", named \"{}\"", names->text(vma.name));
    if (const mm::Pkey key = mm::pkey_of(vma.flags); key != 0) line += fmt::format(", protection key {}", key);
    if (const std::string flags = flags_text(vma.flags & ~(kInPermissions | VmFlags::pkey)); !flags.empty()) {
      line += ", " + flags;
    }
    if (mm::tracks_soft_dirty(profile, vma.flags)) line += ", soft-dirty tracked";
    text += story_line("", line + ", " + anon_vma_text(vma), mm::Rule::none) + "\n";
    if (i == 0) continue;
    const std::string apart = apart_text(profile, vmas[i - 1], vmas[i]);
    if (!apart.empty()) text += story_line("", "   " + apart, mm::Rule::no_merge_flags) + "\n";
  }
  return text;
}

}  // namespace

std::string flags_text(VmFlags flags) {
  std::string text;
  for (const auto& [flag, name] : kFlagNames) {
    if (!has(flags, flag)) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
    flags &= ~flag;
  }
  if (flags != VmFlags::none) text += fmt::format("{}{:#x}", text.empty() ? "" : ", ", std::to_underlying(flags));
  return text;
}

std::string apart_reason(const mm::Profile& profile, const mm::Vma& low, const mm::Vma& high) {
  const mm::Rule rule = mm::why_apart(profile, low, high);
  if (rule == mm::Rule::merged) return "nothing, but no call has looked at both since";
  constexpr std::string_view kNotMerged = "not merged: ";
  std::string_view reason = mm::rule_text(rule);
  if (reason.starts_with(kNotMerged)) reason.remove_prefix(kNotMerged.size());
  std::string text(reason);
  if (rule == mm::Rule::no_merge_flags) text += ": " + flags_text(low.flags ^ high.flags);
  return text;
}

std::string draw_vmas(const mm::Profile& profile, const VmaChange& change) {
  const VmaChange part = focused(change);
  const std::vector<Addr> columns = cuts(part);
  const std::vector<Lettered> before = lettered(part.before);
  const bool unchanged = std::ranges::equal(part.before, part.after, same);
  std::string text = story_line(unchanged ? "VMAs" : "before", drawn_vmas(columns, before), mm::Rule::none) + "\n";
  if (!unchanged) text += legend(profile, change.names, before);
  if (part.worked_on) {
    const std::string stars =
        drawn(columns, "     ", [&](Addr addr) { return part.worked_on->contains(addr) ? '*' : kNoVma; });
    text += story_line("range", stars, mm::Rule::none) + "\n";
  }
  const std::vector<Lettered> after = inherited(part.after, before);
  if (!unchanged) text += story_line("after", drawn_vmas(columns, after), mm::Rule::none) + "\n";
  text += legend(profile, change.names, after);
  if (const std::size_t more = change.after.size() - part.after.size(); more > 0) {
    text += story_line("", fmt::format("and {}", plural(more, "VMA more", "VMAs more")), mm::Rule::none) + "\n";
  }
  return text;
}

}  // namespace faultline::report
