#pragma once

#include <cstdint>

namespace faultline::agent {

/// Where the guest stands when its state is kept.
enum class Halt : std::uint8_t {
  exact,  // at one instruction, the same in every boot
  soon,   // within some moments, wherever it then is
};

/// Looks for the device by which a guest can stop itself: QEMU's pvpanic-pci.
Halt find_halt();
/// Stops the guest here, until somebody continues it, if it can be done.
void halt();

}  // namespace faultline::agent
