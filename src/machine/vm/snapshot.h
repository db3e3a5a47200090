#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <string>

#include "machine/vm/qemu.h"
#include "machine/vm/subprocess.h"

namespace faultline::machine::vm {

/// A guest whose agent waits for a request, in the cache folder.
struct Snapshot {
  Descriptor memory;
  Descriptor state;  // of all but the memory
  Guest guest;       // with the initial file system that it was booted with
  std::filesystem::path functions;
  std::filesystem::path entries;
  /// From a new boot as the one that was kept was damaged?
  bool replaced = false;
  std::string release;  // "6.12.117+deb13-cloud-amd64"
  std::string version;  // "#1 SMP PREEMPT_DYNAMIC Debian 6.12.117-1 (2026-11-12)"
};

/// The snapshot of this guest with the agent as its first process: the one that was kept, or a new one after booting.
/// It depends on the kernel's image, the agent, QEMU, and the board. Two that boot the same at the same time wait for
/// each other. The error says what went wrong, with the console's last lines; nothing half-made is left behind.
std::expected<Snapshot, std::string> take_snapshot(const Guest& guest, std::chrono::milliseconds boot_limit);

}  // namespace faultline::machine::vm
