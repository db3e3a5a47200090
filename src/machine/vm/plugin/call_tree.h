#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "machine/vm/profile.h"

namespace faultline::machine::vm {

/// An instruction as the walk needs it, in one word: its function, and whether it calls or returns.
std::uintptr_t place_of(std::uint32_t function, std::span<const std::uint8_t> bytes, bool arm64);

/// Who called whom, and how many instructions each executed on each path.
class CallTree {
 public:
  /// The node of that function below `parent` (kNoNode: a window of the row `argument` begins with it).
  std::uint32_t child(std::uint32_t parent, std::uint32_t function, std::uint32_t argument);
  CallNode& node(std::uint32_t index) { return nodes_[index]; }
  std::span<const CallNode> nodes() const { return nodes_; }

 private:
  std::vector<CallNode> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
};

/// Follows the calls and returns of one processor.
class Walker {
 public:
  /// A window begins: nothing has been called yet.
  void restart(std::uint32_t argument);
  void step(CallTree& tree, std::uintptr_t place);

 private:
  enum class Next : std::uint8_t { same, called, returned };
  std::uint32_t argument_ = 0;
  std::uint32_t current_ = kNoNode;
  Next next_ = Next::same;
};

}  // namespace faultline::machine::vm
