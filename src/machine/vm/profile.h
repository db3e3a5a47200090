#pragma once

#include <cstdint>

namespace faultline::machine::vm {

inline constexpr std::uint32_t kNoNode = 0xffffffff;

/// One path of calls, as the plugin writes it: a function, called by the function of the node `parent`.
struct CallNode {
  std::uint32_t argument = 0;      // of the windows that it was executed in: run::mark_argument()
  std::uint32_t parent = kNoNode;  // kNoNode: where the window begins
  std::uint32_t function = 0;      // line of the file of symbols
  std::uint32_t reserved = 0;
  std::uint64_t instructions = 0;  // its own
  std::uint64_t calls = 0;
};

}  // namespace faultline::machine::vm
