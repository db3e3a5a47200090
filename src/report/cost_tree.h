#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Costs by the calls that led to them, in the formats of other tools.
namespace faultline::report {

/// A place in a function, and what was spent there itself, not in what it calls.
struct CostNode {
  static constexpr std::uint32_t kNoParent = 0xffffffff;
  std::uint32_t parent = kNoParent;  // an index below its own: the place that called this function
  std::string function;
  std::string file = {};    // of its source; empty where that is not known
  std::string object = {};  // the ELF file; empty where there is none
  std::uint32_t line = 0;   // in the source; 0 where that is not known
  std::uint64_t cost = 0;
  std::uint64_t calls = 0;  // how often it was come to
};

/// For each path of functions that costs something a line "PREFIX;main;fill 352", as flame graph tools read them.
std::string folded(const std::vector<CostNode>& nodes, std::string_view prefix);

struct CallgrindHead {
  std::string command;      // what was run
  std::string event;        // what is counted, a word: "Instructions"
  std::string description;  // of it, for people
};
/// Callgrind's format, version 1, as KCachegrind and callgrind_annotate(1) read it.
std::string callgrind(const std::vector<CostNode>& nodes, const CallgrindHead& head);

}  // namespace faultline::report
