#pragma once

#include <chrono>
#include <expected>
#include <string>

namespace faultline::machine::vm {

/// Has QEMU write the state of its guest, without its memory, to `file`, through its monitor's socket (QMP,
/// docs/interop/qmp-spec of QEMU). The guest goes on running until all is written. The error is QEMU's.
std::expected<void, std::string> save_state(int monitor, int file, std::chrono::steady_clock::time_point deadline);

}  // namespace faultline::machine::vm
