#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "program/position.h"

namespace faultline::program {

enum class StraceEventKind : std::uint8_t {
  call,
  tail,      // the end of a call whose beginning is not in the log
  exit,      // the process, or thread, ended
  signal,    // one was delivered; `name` is its name
  attached,  // strace began to follow the process
};

/// One thing that a log says. Views are into the log's text or into StraceLog::joined.
struct StraceEvent {
  StraceEventKind kind = StraceEventKind::call;
  std::uint32_t pid = 0;  // 0 in a log without pids
  Position position;      // of the name
  std::string_view name;
  std::string_view body;     // of a call: from its '(' on, result included
  std::uint32_t joined = 0;  // 1 + the index of the joined text that `body` is; 0 when it stands on one line
  bool has_result = true;    // false for a call that the log never finishes
};

/// A call that strace wrote in pieces, put together again.
struct StraceJoined {
  struct Piece {
    std::size_t offset = 0;  // where it begins in `text`
    Position position;
  };
  std::string text;
  std::vector<Piece> pieces;
};

/// A log, line by line. An "unfinished" call and its "resumed" end are one event. It stands where the call ended, as
/// what it gave was not there before; but munmap, fork and its kin stand where they began: what another thread maps
/// meanwhile may lie where memory was given back, and a child's calls may precede the return in its parent.
struct StraceLog {
  std::vector<StraceEvent> events;
  std::deque<StraceJoined> joined;
  std::uint64_t foreign_lines = 0;  // none of strace's
  Position first_foreign;
  bool cut_at_end = false;  // the last line has no end, so that it may be a part of one

  /// The place of a byte of an event's body.
  Position position_in(const StraceEvent& event, std::size_t offset) const;
};

/// Reads a log. Takes time and memory in proportion to it; `text` must outlive the result.
StraceLog read_strace_log(std::string_view text);

/// fork, vfork, clone, clone3: the result is a pid.
bool is_strace_fork(std::string_view name);
/// The process that a finished call of fork's kin made, as strace numbers it; 0 when it failed.
std::uint32_t forked_pid(const StraceEvent& event);

}  // namespace faultline::program
