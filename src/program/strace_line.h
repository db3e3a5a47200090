#pragma once

#include <cstdint>
#include <string_view>

namespace faultline::program {

/// What a line of strace(1)'s output is.
enum class StraceLineKind : std::uint8_t {
  blank,
  call,        // "mmap(NULL, …) = 0x7f…"
  unfinished,  // "mmap(NULL, … <unfinished ...>"
  resumed,     // "<... mmap resumed>) = 0x7f…"
  exit,        // "+++ exited with 0 +++", "+++ killed by SIGSEGV +++"
  signal,      // "--- SIGSEGV {…} ---"
  attached,    // "strace: Process 7196 attached"
  remark,      // what else strace says of itself, and the stack traces of -k
  foreign,     // none of strace's: what the traced program printed, say
};

/// Did pid, time or brackets stand before the call? A program of the language has no such lines.
enum class StracePrefix : std::uint8_t { absent, present };

/// A line taken apart. Views are parts of it.
struct StraceLine {
  StraceLineKind kind = StraceLineKind::foreign;
  StracePrefix prefix = StracePrefix::absent;
  std::uint32_t pid = 0;  // as printed before the call, or of the process attached; 0 when there is none
  std::string_view name;  // the call's or the signal's
  std::string_view
      body;  // what follows the name; of a resumed line what follows "resumed>"; without "<unfinished ...>"
};

/// Takes a line apart, without its end. Knows what `-f -o -t -tt -ttt -r -i -n -Y` put before the call. Never fails:
/// what is none of strace's is `foreign`.
StraceLine read_strace_line(std::string_view line);

}  // namespace faultline::program
