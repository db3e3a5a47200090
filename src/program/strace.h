#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "program/error.h"
#include "program/program.h"

/// Import of what strace(1) recorded (docs/strace.md).
namespace faultline::program {

/// One process of a log from its execve, or the log's begin, to the next: threads are in it, forked children that did
/// not execve are `child` blocks.
struct StraceProcess {
  std::string id;           // "7196"; "7196.2" after its second execve; "0" in a log without pids
  std::string command;      // what it executed, if the log has the execve
  std::string parent;       // the id of the process that forked it, if the log says so
  std::uint64_t calls = 0;  // that became statements
  Program program;
  std::vector<std::string> notes;  // what a reader of its figures must know: skipped calls and the like
};

struct StraceImport {
  std::vector<StraceProcess> processes;  // never empty; by their first call; those without a call are left out
  std::vector<std::string> notes;        // about the whole log

  /// "the log holds 2 more processes: 7178 (cc1, 63 calls), …"; empty when there is no other. With kNone all of them.
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::string others(std::size_t chosen) const;
};

/// Makes programs of a log of strace with any of -f -o -t -tt -ttt -r -T -y -yy -i -n -X raw. Recorded results become
/// assertions, and mappings are made at their recorded addresses. A call of memory management that cannot be read is
/// an error, as is a text without any line of strace's; other calls are skipped and counted. `name` is for messages.
/// Time is linear in the text but for a logarithm; memory is proportional to it.
std::expected<StraceImport, Error> import_strace(std::string_view text, std::string name);

/// Is this text a log rather than a program? Most lines of a log are statements, too; what no program has are pids and
/// times before calls, exit and signal lines, and literal addresses as results. Looks at the first lines only.
bool looks_like_strace(std::string_view text);

}  // namespace faultline::program
