#include "record/policy.h"

#include <algorithm>
#include <utility>

#include "base/flags.h"
#include "mm/mdwe.h"
#include "program/copy.h"
#include "program/strace_statement.h"
#include "record/ranges.h"
#include "record/rewrite.h"

namespace faultline::record {
namespace {

using program::call_statement;
using program::Spelling;
using program::Statement;
using program::Sys;
using program::SystemCall;

constexpr std::uint64_t kSetMdwe = 65;
constexpr auto kRefuseExecGain = std::to_underlying(mm::DenyWriteExec::refuse_exec_gain);
constexpr std::uint64_t kGuardInstall{std::to_underlying(Advice::guard_install)};
constexpr std::uint64_t kGuardRemove{std::to_underlying(Advice::guard_remove)};

bool is_mprotect(const SystemCall& call) { return call.sys == Sys::mprotect || call.sys == Sys::pkey_mprotect; }

struct Nothing {};

void refuse_write_and_exec(Restricted& restricted) {
  auto visit = [&](Nothing&, Statement& statement, program::Block& result) {
    const auto call = asked(statement);
    const std::uint32_t line = statement.position.line;
    if (line == 0 || !call || !call->protection || !has(*call->protection, Prot::write) ||
        !has(*call->protection, Prot::exec)) {
      return result.push_back(std::move(statement));
    }
    restricted.refused.emplace(line, call->range);
    result.push_back(call_statement(statement.position, Sys::getppid, {}));
  };
  rewrite(restricted.program.body, Nothing{}, visit);
}

void forbid_reading_text(Restricted& restricted) {
  auto visit = [](Nothing&, Statement& statement, program::Block& result) {
    const auto call = asked(statement);
    if (call && call->protection == (Prot::read | Prot::exec)) {
      call->call->arguments[2] = std::make_unique<program::Expr>(
          statement.position, program::NamedConstant{std::to_underlying(Prot::exec), "PROT_EXEC"});
    }
    result.push_back(std::move(statement));
  };
  rewrite(restricted.program.body, Nothing{}, visit);
}

void guard(Restricted& restricted) {
  auto visit = [](Ranges& guarded, Statement& statement, program::Block& result) {
    const auto call = asked(statement);
    if (!call || (!is_mprotect(*call->call) && call->call->sys != Sys::mmap && call->call->sys != Sys::munmap)) {
      return result.push_back(std::move(statement));
    }
    if (is_mprotect(*call->call) && call->protection == Prot::none) {
      guarded.add(call->range);
      result.push_back(
          call_statement(statement.position, Sys::madvise,
                         {{call->address, Spelling::address}, {call->length}, {kGuardInstall, Spelling::advice}},
                         program::SpelledArgument{0}));
      return;
    }
    for (const Range& part : guarded.overlapping(call->range)) {
      if (!is_mprotect(*call->call)) continue;
      result.push_back(
          call_statement(kOwnPosition, Sys::madvise,
                         {{part.start.value, Spelling::address}, {part.bytes()}, {kGuardRemove, Spelling::advice}}));
    }
    guarded.remove(call->range);
    result.push_back(std::move(statement));
  };
  rewrite(restricted.program.body, Ranges{}, visit);
}

}  // namespace

std::optional<std::size_t> first_after_loading(const Import& recording, std::size_t process) {
  const auto& code = recording.code[process];
  if (code.empty()) return std::nullopt;
  const program::Block& body = recording.processes[process].program.body;
  const auto executes_program = [&](const Statement& statement) {
    const auto* access = std::get_if<program::Access>(&statement.node);
    if (access == nullptr || access->kind != AccessKind::fetch) return false;
    const auto address = constant(access->address);
    // The program's own file is the first that is mapped.
    return std::ranges::any_of(code, [&](const Code& part) {
      return address && part.path == code.front().path && *address >= part.start && *address < part.end;
    });
  };
  const auto found = std::ranges::find_if(body, executes_program);
  return found == body.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - body.begin()));
}

std::optional<std::size_t> first_after_calls(const Import& recording, std::size_t process, std::uint64_t calls) {
  const program::Block& body = recording.processes[process].program.body;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const Origin* origin = origin_of(recording, body[i]);
    if (origin == nullptr) continue;
    // What was there at the start stands before the first call, too.
    if (calls == 0 && !is_mapping(*origin, body[i])) return i;
    if (origin->is_call) --calls;
  }
  return std::nullopt;
}

Restricted sealed_before(const program::Program& program, std::size_t statement, const std::vector<Range>& ranges) {
  Restricted restricted = under_policy(program, Policy::sealed);
  program::Block& body = restricted.program.body;
  program::Block seals;
  for (const Range& range : ranges) {
    seals.push_back(
        call_statement(kOwnPosition, Sys::mseal, {{range.start.value, Spelling::address}, {range.bytes()}, {0}}));
  }
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(statement), std::move_iterator(seals.begin()),
              std::move_iterator(seals.end()));
  return restricted;
}

Restricted under_policy(const program::Program& program, Policy policy) {
  Restricted restricted{program::copy(program), {}};
  auto keep = [](Nothing&, Statement& statement, program::Block& result) { result.push_back(std::move(statement)); };
  switch (policy) {
    case Policy::sealed:
      rewrite(restricted.program.body, Nothing{}, keep);
      break;
    case Policy::mdwe:
      rewrite(restricted.program.body, Nothing{}, keep);
      restricted.program.body.insert(
          restricted.program.body.begin(),
          call_statement(kOwnPosition, Sys::prctl,
                         {{kSetMdwe, Spelling::prctl_option}, {kRefuseExecGain, Spelling::mdwe_flags}, {0}, {0}, {0}}));
      break;
    case Policy::write_xor_exec:
      refuse_write_and_exec(restricted);
      break;
    case Policy::exec_only:
      forbid_reading_text(restricted);
      break;
    case Policy::guards:
      guard(restricted);
      break;
  }
  return restricted;
}

}  // namespace faultline::record
