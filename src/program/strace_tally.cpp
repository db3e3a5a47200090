#include "program/strace_tally.h"

#include <algorithm>
#include <utility>

namespace faultline::program {
namespace {

constexpr std::size_t kNamesShown = 8;

std::string counted(std::uint64_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

/// "openat 4, read 3, …": the commonest first, and how many more there are.
template <class Map>
std::string list(const Map& counts) {
  std::vector<std::pair<std::string_view, std::uint64_t>> ordered(counts.begin(), counts.end());
  const auto more = [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  };
  std::ranges::sort(ordered, more);
  std::string text;
  for (std::size_t i = 0; i < std::min(ordered.size(), kNamesShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(ordered[i].first) + " " + std::to_string(ordered[i].second);
  }
  if (ordered.size() > kNamesShown) text += ", and " + std::to_string(ordered.size() - kNamesShown) + " more";
  return text;
}

template <class Map>
std::uint64_t sum(const Map& counts) {
  std::uint64_t total = 0;
  for (const auto& [name, count] : counts) total += count;
  return total;
}

}  // namespace

std::vector<std::string> strace_notes(const StraceTally& tally) {
  std::vector<std::string> notes;
  const auto note = [&notes](std::uint64_t n, std::string_view one, std::string_view many, std::string_view rest) {
    if (n > 0) notes.push_back(counted(n, one, many) + std::string(rest));
  };
  notes.emplace_back("this log has no accesses: nothing is faulted in");
  if (tally.imported == 0) notes.emplace_back("this log has no call that changes memory");
  note(tally.file_mappings, "file mapping", "file mappings",
       tally.shared_file_mappings == 0 ? " imported as anonymous memory"
                                       : " imported as private anonymous memory, " +
                                             std::to_string(tally.shared_file_mappings) + " of them shared");
  note(tally.set_up, "range", "ranges", " that the log uses but never mapped set up first as anonymous memory");
  note(tally.breaks, "brk call", "brk calls", " imported as mmap and munmap of the heap at its recorded place");
  note(tally.replaced, "mapping lies", "mappings lie", " on memory that the log still has mapped, and replaced it");
  note(tally.keys, "pkey_mprotect", "pkey_mprotects", " imported as mprotect, without the key");
  note(tally.huge, "MAP_HUGETLB mapping", "MAP_HUGETLB mappings", " imported with base pages");
  note(tally.grows_down, "mapping", "mappings", " imported without MAP_GROWSDOWN");
  if (!tally.left_out.empty()) {
    notes.push_back(counted(sum(tally.left_out), "call was", "calls were") +
                    " left out, as the log lacks what decides the result: " + list(tally.left_out));
  }
  if (!tally.skipped.empty()) {
    notes.push_back(counted(sum(tally.skipped), "call", "calls") + " of " +
                    counted(tally.skipped.size(), "kind", "kinds") + " skipped: " + list(tally.skipped));
  }
  note(tally.unfinished, "call", "calls", " skipped, of which the log lacks the beginning or the result");
  note(tally.too_deep, "call", "calls", " skipped, of processes that too many forks in each other led to");
  if (!tally.signals.empty()) {
    notes.push_back(counted(sum(tally.signals), "signal", "signals") + " passed over: " + list(tally.signals));
  }
  note(tally.strangers.size(), "pid", "pids",
       " taken as threads of the process that was last active: record with -e trace=%memory,%process to know");
  constexpr std::uint64_t kUserSpaceOfX86 = (std::uint64_t{1} << 47U) - 4096;
  if (tally.highest_address > kUserSpaceOfX86) {
    notes.emplace_back("addresses beyond the user space of x86-64: run on model:arm64/…");
  }
  return notes;
}

}  // namespace faultline::program
