#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/error.h"
#include "program/program.h"

/// Programs as C that compiles alone: what is sent to people who have no Faultline.
namespace faultline::exports {

/// What a machine counted for one operation, over all its executions.
struct CFigures {
  std::uint64_t calls = 0;
  std::uint64_t faults = 0;           // ru_minflt
  std::optional<std::uint64_t> vmas;  // in the operation's range, after its first execution
};

struct CExport {
  std::string origin;  // "programs/mprotect-cycle.fl": what it is made of, for the first comment
  std::vector<std::pair<std::string, std::uint64_t>> params;  // replace the values of `param` statements
  std::string machine;            // "model:6.18": where the figures are from; empty: there are none
  std::vector<CFigures> figures;  // of each operation, in the order of the program
};

/// The program as C for Linux on x86-64 and arm64, for GCC and clang, without warnings of -Wall -Wextra. Run, it prints
/// for each operation the calls, the page faults (ru_minflt) and the mappings in its range, beside the figures of
/// `CExport::machine`, and asserts the program's results and expectations; its exit status is 1 where one does not
/// hold. Expectations of other machines than live are left out, and those that C cannot tell (digests, counters of the
/// kernel's inside) are named when it runs. The error is at a statement that has no counterpart: a value that is
/// asked of such a probe.
std::expected<std::string, program::Error> export_c(const program::Program& program, const CExport& options);

}  // namespace faultline::exports
