#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/page.h"
#include "program/program.h"
#include "record/import.h"
#include "record/symbols.h"
#include "run/step.h"

/// What a step of a recording's program was when it was recorded.
namespace faultline::report {

/// A memory call and where the program made it. `(mapped at the start)` is a call of its own.
struct CallSite {
  std::string call;
  std::string site;
  auto operator<=>(const CallSite&) const = default;
};

/// The call that was recorded, whatever stands for it in the program: a heap's growth is an mmap there.
CallSite call_site(const record::Origin& origin, record::Symbols& symbols);

/// "load", "store by the kernel".
std::string_view touch_name(record::Touch touch);

/// Is the statement a recorded touch, by the program or by the kernel for it?
bool is_touch(const program::Statement& statement, const record::Origin& origin);

/// The statement's system call, if it is one.
const program::SystemCall* call_of(const program::Statement& statement);

/// The pages that a call names; of a call that chooses its place, nothing.
std::optional<Range> named_range(const run::Step& step);

/// Where an mremap that succeeded has put its mapping.
std::optional<Range> moved_to(const run::Step& step, const run::StepOutcome& outcome);

}  // namespace faultline::report
