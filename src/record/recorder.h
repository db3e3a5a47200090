#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace faultline::record {

/// Is the command run a second time, without QEMU, for the kernel's own count of its faults? With no input, and what it
/// prints goes nowhere; whatever else it does it does twice.
enum class Natively : std::uint8_t { no, yes };

struct RecordingOptions {
  Natively natively = Natively::no;
  /// After every so many system calls of a process each page's next touches are recorded again, as tracking of dirty
  /// pages asks for; 0: never.
  std::uint64_t again = 0;
};

struct Recorded {
  int status = 0;           // the command's, as a shell has it: 128 + the signal's number for one that was killed
  std::uint64_t bytes = 0;  // of the recording
};

/// Runs a command under QEMU's user mode with the recorder's plugin, and writes the recording to the descriptor as it
/// comes; ends when the last process that it started has. The command has this process's input, output and terminal.
/// The error says what is missing, or why the recording could not be written.
std::expected<Recorded, std::string> record_command(const std::vector<std::string>& command, int output,
                                                    const RecordingOptions& options = {});

/// What keeps this machine from recording a program, if anything does.
std::expected<void, std::string> can_record(const std::string& program);

}  // namespace faultline::record
