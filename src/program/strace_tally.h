#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace faultline::program {

/// What became of the calls of one process: all that a program made of its log does not show.
struct StraceTally {
  std::uint64_t imported = 0;
  std::unordered_map<std::string_view, std::uint64_t> skipped;  // by name: not calls of memory management
  std::map<std::string, std::uint64_t> left_out;                // by call and reason: the log lacks what decides
  std::unordered_map<std::string_view, std::uint64_t> signals;
  std::uint64_t file_mappings = 0;
  std::uint64_t shared_file_mappings = 0;       // of these
  std::uint64_t set_up = 0;                     // ranges that the log uses without having mapped them
  std::uint64_t replaced = 0;                   // mappings that lie on what the log still has mapped
  std::uint64_t breaks = 0;                     // brk calls
  std::uint64_t keys = 0;                       // pkey_mprotect with a key
  std::uint64_t huge = 0;                       // MAP_HUGETLB
  std::uint64_t grows_down = 0;                 // MAP_GROWSDOWN
  std::uint64_t unfinished = 0;                 // calls without a result, or without a beginning
  std::uint64_t too_deep = 0;                   // calls of processes that too many forks led to
  std::unordered_set<std::uint32_t> strangers;  // pids taken as threads, as the log does not say what they are
  std::uint64_t highest_address = 0;
};

/// The tally in sentences, the most important first.
std::vector<std::string> strace_notes(const StraceTally& tally);

}  // namespace faultline::program
