#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>

namespace faultline::machine::vm {

/// When a guest stops whose state is to be saved.
enum class Stops : std::uint8_t {
  by_itself,   // which is waited for
  when_saved,  // it goes on running until all is written
};

/// Has QEMU write the state of its guest, without its memory, to `file`, through its monitor's socket (QMP,
/// docs/interop/qmp-spec of QEMU). The error is QEMU's.
std::expected<void, std::string> save_state(int monitor, int file, Stops stops,
                                            std::chrono::steady_clock::time_point deadline);

}  // namespace faultline::machine::vm
