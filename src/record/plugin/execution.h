#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/format.h"

namespace faultline::record {

/// How QEMU was called, so that a program that is executed can be recorded too.
struct Emulator {
  std::string path;                    // of the QEMU that runs this
  std::vector<std::string> arguments;  // those before the program
};
/// From /proc/self; nothing when that cannot be read.
std::optional<Emulator> this_emulator(const std::string& program);

/// What execve(2) would execute: the file itself, or the interpreter that its first line names, with its arguments.
struct Executed {
  std::string file;
  std::vector<std::string> arguments;  // from argv[0] on
};
/// Nothing where execve would fail or run something else than an ELF file of that machine; the kernel is then asked.
std::optional<Executed> executed(Machine machine, const std::string& file, std::vector<std::string> arguments);

/// Executes it under QEMU. Returns when that failed.
void execute(const Emulator& emulator, const Executed& executed, char* const* environment);

}  // namespace faultline::record
