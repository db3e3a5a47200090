#include "report/recording_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/page.h"
#include "report/format.h"

namespace faultline::report {
namespace {

struct Kind {
  Counter counter;
  std::string_view title;
};
constexpr std::array kKinds{
    Kind{Counter::fault_read, "first reads"},     Kind{Counter::fault_write, "first writes"},
    Kind{Counter::fault_file, "file pages"},      Kind{Counter::fault_copy, "copies"},
    Kind{Counter::fault_reuse, "write upgrades"}, Kind{Counter::fault_spurious, "spurious"},
    Kind{Counter::fault_guard, "guard hits"},     Kind{Counter::fault_uffd, "by a userfaultfd"},
    Kind{Counter::fault_signal, "signals"},       Kind{Counter::populated, "by the kernel for itself"},
};

/// The entries of a map, largest first, those of one size as they were.
template <class Map, class Size>
std::vector<const typename Map::value_type*> by_size(const Map& map, Size size) {
  std::vector<const typename Map::value_type*> entries;
  for (const auto& entry : map) entries.push_back(&entry);
  std::ranges::stable_sort(entries, [&](const auto* a, const auto* b) { return size(a->second) > size(b->second); });
  return entries;
}

/// "1", "2–3", "4–7".
std::string bucket(std::uint64_t low) {
  if (low <= 1) return std::to_string(low);
  return thousands(low) + "–" + thousands(2 * low - 1);
}
std::uint64_t bucket_end(std::uint64_t low) { return low == 0 ? 0 : 2 * low - 1; }

std::uint64_t flushes(const Counters& counted) {
  return counted[Counter::flushes_ranged] + counted[Counter::flushes_full];
}

}  // namespace

std::string fault_kinds(const Counters& counted) {
  std::string text;
  for (const auto& [counter, title] : kKinds) {
    if (counted[counter] == 0) continue;
    text += (text.empty() ? "" : ", ") + thousands(counted[counter]) + " " + std::string(title);
  }
  return text;
}

std::string protection_text(std::optional<Prot> prot) {
  if (!prot) return "mixed";
  std::string text = "---";
  if (has(*prot, Prot::read)) text[0] = 'r';
  if (has(*prot, Prot::write)) text[1] = 'w';
  if (has(*prot, Prot::exec)) text[2] = 'x';
  return text;
}

Table call_table(const StudyFigures& figures) {
  Table table{{{"call", "call"},
               {"site", "site"},
               {"calls", "calls", Align::right},
               {"failures", "failed", Align::right},
               {"bytes", ""},
               {"", "pages", Align::right},
               {"pages_present", "present", Align::right},
               {"ptes_changed", "PTEs", Align::right},
               {"splits", "splits", Align::right},
               {"merges", "merges", Align::right},
               {"flushes", "flushes", Align::right},
               {"mmap_lock_read", ""},
               {"mmap_lock_write", ""},
               {"vma_lock", ""},
               {"", "locks", Align::right},
               {"later_faults", "faults later", Align::right}},
              {}};
  for (const auto* entry :
       by_size(figures.calls, [](const CallFigures& f) { return std::pair(f.later_faults, f.calls); })) {
    const auto& [site, f] = *entry;
    const std::uint64_t read = f.counted[Counter::mmap_lock_read];
    const std::uint64_t write = f.counted[Counter::mmap_lock_write];
    const std::uint64_t vma = f.counted[Counter::vma_lock];
    table.rows.push_back({site.call, site.site, f.calls, f.failures, f.bytes, f.bytes / kPageSize, f.present,
                          f.counted[Counter::ptes_changed], f.counted[Counter::splits], f.counted[Counter::merges],
                          flushes(f.counted), read, write, vma, read + write + vma, f.later_faults});
  }
  return table;
}

Table fault_table(const StudyFigures& figures) {
  Table table{{{"access", "access"},
               {"site", "site"},
               {"minor_faults", "faults", Align::right},
               {"exceptions", ""},
               {"", "kinds"}},
              {}};
  for (const auto& kind : kKinds) table.columns.push_back({std::string(counter_name(kind.counter)), ""});
  for (const auto* entry : by_size(figures.faults, [](const Counters& c) { return c[Counter::minor_faults]; })) {
    const auto& [site, counted] = *entry;
    std::vector<TableCell> row{site.access, site.site, counted[Counter::minor_faults], counted[Counter::exceptions],
                               fault_kinds(counted)};
    for (const auto& kind : kKinds) row.emplace_back(counted[kind.counter]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table vma_table(const StudyFigures& figures) {
  Table table{{{"call", "after call", Align::right}, {"vmas", "VMAs", Align::right}, {"limit", ""}}, {}};
  for (const VmaPoint& point : figures.vmas) table.rows.push_back({point.call, point.vmas, figures.limit});
  return table;
}

Table protection_table(const StudyFigures& figures) {
  Table table{{{"", "pages", Align::right},
               {"pages_from", ""},
               {"pages_to", ""},
               {"", "present", Align::right},
               {"present_from", ""},
               {"present_to", ""},
               {"", "change"},
               {"before", ""},
               {"after", ""},
               {"times", "times", Align::right},
               {"pages", ""},
               {"pages_present", ""},
               {"ptes_changed", ""},
               {"flushes", ""},
               {"site", "site"}},
              {}};
  for (const auto* entry : by_size(figures.protections, [](const ProtectionFigures& f) { return f.times; })) {
    const auto& [change, f] = *entry;
    const std::string before = protection_text(change.before);
    const std::string after = protection_text(change.after);
    table.rows.push_back({bucket(change.pages), change.pages, bucket_end(change.pages), bucket(change.present),
                          change.present, bucket_end(change.present), fmt::format("{} → {}", before, after), before,
                          after, f.times, f.pages, f.present, f.counted[Counter::ptes_changed], flushes(f.counted),
                          change.site});
  }
  return table;
}

}  // namespace faultline::report
