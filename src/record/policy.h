#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/page.h"
#include "program/program.h"
#include "record/import.h"

/// A recording's program as it would be under a policy that forbids something. Results that were recorded stay as they
/// were: what differs shows when it runs, without stopping it.
namespace faultline::record {

enum class Policy : std::uint8_t {
  sealed,          // mseal(2) of everything that is mapped at one point
  mdwe,            // prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN) before anything else
  write_xor_exec,  // what asks for PROT_WRITE and PROT_EXEC at once is EACCES
  exec_only,       // what asks for PROT_READ|PROT_EXEC gets PROT_EXEC
  guards,          // MADV_GUARD_INSTALL in place of mprotect(PROT_NONE)
};

/// A program under a policy. Statements keep their positions; those of the policy's own have line 0.
struct Restricted {
  program::Program program;
  /// By position's line: calls that the policy refuses with EACCES. Something else stands in their place.
  std::map<std::uint32_t, Range> refused;
};

/// For Policy::sealed, which of the program's statements is the first after sealing, by its index in the body: the
/// first that executes text of the program itself, when the dynamic loader has done its work; nothing when none does.
std::optional<std::size_t> first_after_loading(const Import& recording, std::size_t process);
/// The same after `calls` memory calls of the process itself.
std::optional<std::size_t> first_after_calls(const Import& recording, std::size_t process, std::uint64_t calls);

/// Seals these ranges before that statement.
Restricted sealed_before(const program::Program& program, std::size_t statement, const std::vector<Range>& ranges);

/// Any other policy.
Restricted under_policy(const program::Program& program, Policy policy);

}  // namespace faultline::record
