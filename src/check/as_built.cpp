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
    // A write to the zero page faults; one to a page of its own does not.
    {"a = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n"
     "load(a, PAGE)\n"
     "measure \"write\" { store(a, PAGE) }\n"
     "expect faults(\"write\") == 0\n",
     "+zero-page=not-on-reads", [](const mm::Profile& profile) { return profile.zero_page == mm::ZeroPage::shared; }},
    {"a = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n"
     "u = userfaultfd(O_CLOEXEC|UFFD_USER_MODE_ONLY)\n"
     "ioctl(u, UFFDIO_API, {api=UFFD_API, features=0})\n"
     "ioctl(u, UFFDIO_REGISTER, {range={start=a, len=PAGE}, mode=UFFDIO_REGISTER_MODE_MISSING})\n"
     "ioctl(u, UFFDIO_ZEROPAGE, {range={start=a, len=PAGE}, mode=0})\n"
     "measure \"write\" { store(a, PAGE) }\n"
     "expect resident(a, PAGE) == 1\n"
     "expect faults(\"write\") == 0\n",
     "+zero-page=forbidden",
     [](const mm::Profile& profile) { return profile.zero_page == mm::ZeroPage::not_on_reads; }},
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
