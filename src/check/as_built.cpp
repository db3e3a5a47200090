#include "check/as_built.h"

#include <algorithm>

#include "program/parser.h"

namespace faultline::check {
namespace {

struct Question {
  std::string_view program;  // what it expects holds on a machine that `policy` describes
  std::string_view policy;   // "+soft-dirty=absent"
  bool (*arises)(const mm::Profile& profile);
};

constexpr Question kQuestions[] = {
    // Every page of a new mapping is soft-dirty where any ever is.
    {"a = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n"
     "expect soft_dirty(a, PAGE) == 0\n",
     "+soft-dirty=absent", [](const mm::Profile& profile) { return profile.soft_dirty == mm::SoftDirty::present; }},
    {"pkey_alloc(0, 0) = -1 EINVAL\n", "+pkeys=absent",
     [](const mm::Profile& profile) { return profile.pkeys == mm::Pkeys::present; }},
    {"a = mmap(NULL, PAGE, PROT_EXEC, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n"
     "load(a) = SIGSEGV SEGV_ACCERR\n",
     "+exec-only=epan",
     [](const mm::Profile& profile) {
       return profile.arch == arch::Arch::arm64 && profile.exec_only == mm::ExecOnly::readable;
     }},
};

bool holds(const Question& question, machine::Machine& machine) {
  const run::Report answer = machine.run(*program::parse(question.program, "question"), {});
  return !answer.checks.empty() && std::ranges::all_of(answer.checks, [](const run::Check& check) {
    return check.status == run::CheckStatus::held;
  });
}

}  // namespace

mm::Profile as_built(const mm::Profile& profile, machine::Machine& machine) {
  mm::Profile built = profile;
  for (const Question& question : kQuestions) {
    if (!question.arises(built) || !holds(question, machine)) continue;
    built = *mm::parse_profile(built.name + std::string(question.policy));
  }
  return built;
}

}  // namespace faultline::check
