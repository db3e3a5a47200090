#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace faultline::mm {

/// Number of a page frame in its FramePool. Frame 0 is the shared zero page.
struct FrameId {
  std::uint32_t index = 0;
  bool operator==(const FrameId&) const = default;
};
inline constexpr FrameId kZeroFrame{0};

// FramePool: to be completed by the model.
class FramePool {};

}  // namespace faultline::mm
