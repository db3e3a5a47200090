#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/page.h"
#include "program/program.h"

/// Makes statements out of numbers, spelled as strace(1) spells them.
namespace faultline::program {

/// How an argument is written.
enum class Spelling : std::uint8_t {
  address,        // 0x7f0df22f5000, NULL
  number,         // 8192, -1
  protection,     // PROT_READ|PROT_WRITE
  map_flags,      // MAP_PRIVATE|MAP_ANONYMOUS
  advice,         // MADV_DONTNEED
  remap_flags,    // MREMAP_MAYMOVE
  sync_flags,     // MS_SYNC
  lock_flags,     // MLOCK_ONFAULT
  lockall_flags,  // MCL_CURRENT
  memfd_flags,    // MFD_CLOEXEC
  prctl_option,   // PR_SET_MDWE
  mdwe_flags,     // PR_MDWE_REFUSE_EXEC_GAIN
  text,           // "heap"
  variable        // memfd1: the value is its slot
};

struct SpelledArgument {
  std::uint64_t value = 0;
  Spelling spelling = Spelling::number;
  std::string_view text = {};  // of a string or a variable
};

/// The argument as a program's text. What no constant names is written as a hexadecimal number.
std::string spelled(SpelledArgument argument);

/// A system call without an assertion. What no constant names is written as a hexadecimal number.
Statement call_statement(Position position, Sys sys, std::initializer_list<SpelledArgument> arguments);

/// The same with `= value` or `= -1 ERROR`.
Statement call_statement(Position position, Sys sys, std::initializer_list<SpelledArgument> arguments,
                         SpelledArgument value);
Statement call_statement(Position position, Sys sys, std::initializer_list<SpelledArgument> arguments, int error);

/// The same as `variable = call(…)`.
Statement call_statement_into(Position position, Sys sys, std::initializer_list<SpelledArgument> arguments,
                              SpelledArgument variable);

}  // namespace faultline::program
