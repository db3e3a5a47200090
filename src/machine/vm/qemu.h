#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/arch.h"
#include "machine/vm/profile.h"
#include "machine/vm/subprocess.h"
#include "mm/accounting.h"
#include "run/frame_io.h"
#include "run/marks.h"

namespace faultline::machine::vm {

/// What a guest is for. Where nothing is counted it has none of the processor's fast string instructions, which QEMU
/// executes byte by byte, and a kernel that does not zero the pages that it is about to write.
enum class Purpose : std::uint8_t { counting, playing_cases };

/// The computer that QEMU emulates.
struct Guest {
  arch::Arch arch = arch::Arch::x86_64;
  std::filesystem::path kernel;
  std::filesystem::path initrd;
  std::uint32_t cpus = 1;
  std::uint32_t memory_mb = 256;
  mm::Overcommit overcommit = mm::Overcommit::heuristic;
  Purpose purpose = Purpose::counting;

  /// "qemu-system-x86_64".
  std::string program() const;
  /// What decides the state of the guest: QEMU's arguments, without paths.
  std::vector<std::string> board() const;
  std::uint64_t memory_bytes() const { return std::uint64_t{memory_mb} << 20; }
};

/// What the plugin counts: instructions of the kernel cost each of them some time.
enum class Counts : std::uint8_t { nothing, windows, functions };

/// What a QEMU is started for. The guest's memory is a file of its own: a guest that boots writes to it, one that is
/// restored has a private copy of what it touches.
struct Task {
  int memory = -1;                // a file of the guest's memory's size, or an empty one where it boots
  int incoming = -1;              // the state of all else, to restore; -1 boots
  std::string request;            // what the agent finds in its configuration
  std::filesystem::path symbols;  // for the plugin; empty for none
  Counts counts = Counts::nothing;
};

/// A running QEMU with the plugin, and all that comes out of it. It ends with this object.
class Qemu {
 public:
  /// The error says what is missing, and how to get it.
  static std::expected<Qemu, std::string> start(const Guest& guest, const Task& task);
  Qemu(Qemu&& other) noexcept;
  Qemu& operator=(Qemu&&) = delete;
  ~Qemu();

  /// The agent's next message.
  std::expected<std::string, run::ReadFault> message(std::chrono::steady_clock::time_point deadline);
  /// The windows up to the last message.
  std::vector<run::WindowRecord> records() const;
  /// The paths of calls up to the last message.
  std::vector<CallNode> profile() const;

  /// The monitor of a guest that boots.
  int monitor() const { return monitor_.get(); }

  /// How QEMU ended, if it has: "QEMU was killed by signal 9".
  std::optional<std::string> ended();
  /// The last lines on the console, QEMU's own complaints among them; empty when there are none.
  std::string console() const;

 private:
  Qemu() = default;

  pid_t process_ = -1;
  std::optional<int> status_;
  Descriptor messages_;
  Descriptor records_;
  Descriptor profile_;
  Descriptor console_;
  Descriptor monitor_;
};

/// Where the plugin is: beside the agent. The error says where it was looked for.
std::expected<std::filesystem::path, std::string> find_plugin();
/// The agent for that architecture.
std::expected<std::filesystem::path, std::string> find_guest_agent(arch::Arch arch);

}  // namespace faultline::machine::vm
