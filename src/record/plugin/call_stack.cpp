#include "record/plugin/call_stack.h"

#include <algorithm>

namespace faultline::record {

std::uint32_t Sites::find(std::uint32_t caller, std::uint64_t address) {
  const auto known = numbers_.find({caller, address});
  if (known != numbers_.end()) return known->second;
  if (numbers_.size() >= kMost) return caller;
  const auto number = static_cast<std::uint32_t>(numbers_.size() + 1);
  numbers_.emplace(Key{caller, address}, number);
  made_(number, caller, address);
  return number;
}

std::uint32_t CallStack::site(Sites& sites, std::uint64_t address) {
  const std::size_t first = frames_.size() - std::min(frames_.size(), kNamed);
  std::uint32_t caller = 0;
  for (std::size_t i = first; i < frames_.size(); ++i) caller = sites.find(caller, frames_[i]);
  return sites.find(caller, address);
}

}  // namespace faultline::record
