#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "record/format.h"

/// Reads what `faultline record` wrote (docs/recording.md).
namespace faultline::record {

struct Start {
  Machine machine{};
  std::string path;
};
/// Again, with the same number, where its size is another now.
struct File {
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;  // or kNoPages
  std::string path;
};
/// Sites count from 1 in each process; a forked process goes on where its parent was.
struct Site {
  std::uint64_t id = 0;
  std::uint64_t caller = 0;  // 0: none
  std::uint64_t address = 0;
};
/// There when the program began, or found later, without a call that made it.
struct Mapped {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t protection = 0;
  std::uint64_t flags = 0;
  std::uint64_t file = 0;  // 0: anonymous
  std::uint64_t offset = 0;
};
struct Access {
  std::uint64_t thread = 0;
  Touch touch{};
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t site = 0;  // 0: the kernel
};
struct MemoryCall {
  std::uint64_t thread = 0;
  Call call{};
  std::uint64_t site = 0;
  std::array<std::uint64_t, kMostArguments> arguments{};
  std::uint64_t count = 0;
  std::uint64_t result = 0;  // the bits of -errno when it failed
  std::uint64_t file = 0;    // of an mmap that maps one
};
struct Forking {
  std::uint64_t thread = 0;
  std::uint64_t flags = 0;  // of clone(2)
  std::uint64_t serial = 0;
};
struct Forked {
  std::uint64_t parent = 0;
  std::uint64_t serial = 0;  // the parent's
};
struct Ended {
  std::uint64_t thread = 0;
  std::uint64_t status = 0;
};
struct Foreign {
  std::string path;
};
struct Incomplete {
  std::uint64_t kilobytes = 0;
};
/// The same command as the kernel ran it by itself, with all that it started and waited for.
struct Native {
  std::uint64_t minor_faults = 0;  // ru_minflt
  std::uint64_t major_faults = 0;  // ru_majflt
  PerfCount perf{};
  std::uint64_t page_faults = 0;  // perf's
};
/// An access that ended in a signal.
struct Refused {
  std::uint64_t thread = 0;
  Touch touch{};
  std::uint64_t address = 0;
  std::uint64_t site = 0;
  int signal = 0;
  int code = 0;  // si_code
};
using Record = std::variant<Start, File, Site, Mapped, Access, MemoryCall, Forking, Forked, Ended, Foreign, Incomplete,
                            Native, Refused>;

/// How a recording ends: by itself, or because whoever wrote it was stopped.
enum class Closing : std::uint8_t { complete, open };

/// Is it a recording, judged by its first bytes?
bool looks_like_recording(std::string_view bytes);

/// What is wrong with a record in its context; empty when nothing is.
using RecordReader = std::function<std::string(std::uint32_t pid, Record& record)>;

/// Hands over each record in turn. The error says where the recording is damaged and what was expected there. A frame's
/// sum is looked at before its records are, and no more than one frame is held.
std::expected<Closing, std::string> read_recording(std::string_view bytes, const RecordReader& reader);

}  // namespace faultline::record
