#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "machine/machine.h"

namespace faultline::machine::vm {

/// A kernel under QEMU, from its name behind "vm:": a series, a version or a name of `faultline kernel list`
/// ("6.12", "arm64/6.12"), or the path of an image; then options, ",cpus=2", ",memory=512" (MiB).
std::expected<std::unique_ptr<Machine>, std::string> make_vm(std::string_view name);

}  // namespace faultline::machine::vm
