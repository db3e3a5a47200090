#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "export/trace.h"

namespace faultline::exports {

/// Which call made each descriptor that a run uses, and what then set the file up.
class Descriptors {
 public:
  explicit Descriptors(const std::vector<Event>& events);

  /// The event that made the descriptor which this one uses; nothing where it uses none, or one of unknown origin.
  std::optional<std::size_t> used_by(std::size_t event) const { return uses_[event]; }
  /// Is it part of setting up a file: made, given its length, and its pages put into the page cache? Then the event
  /// that made the descriptor.
  std::optional<std::size_t> set_up_of(std::size_t event) const { return set_up_[event]; }

 private:
  std::vector<std::optional<std::size_t>> uses_;
  std::vector<std::optional<std::size_t>> set_up_;
};

/// The position of the descriptor among a call's arguments; nothing where it has none.
std::optional<std::size_t> descriptor_argument(const Event& event);

}  // namespace faultline::exports
