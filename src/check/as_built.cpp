#include "check/as_built.h"

#include <algorithm>

#include "program/parser.h"

namespace faultline::check {
namespace {

// Every page of a new mapping is soft-dirty where any ever is.
constexpr std::string_view kQuestion =
    "a = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n"
    "expect soft_dirty(a, PAGE) == 1\n";

}  // namespace

mm::Profile as_built(const mm::Profile& profile, machine::Machine& machine) {
  if (profile.soft_dirty == mm::SoftDirty::absent) return profile;
  const auto question = program::parse(kQuestion, "soft-dirty");
  const run::Report answer = machine.run(*question, {});
  const bool denied = std::ranges::any_of(
      answer.checks, [](const run::Check& check) { return check.status == run::CheckStatus::failed; });
  return denied ? *mm::parse_profile(profile.name + "+soft-dirty=absent") : profile;
}

}  // namespace faultline::check
