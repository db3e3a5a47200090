// The checker finds what differs, and nothing where nothing does. Models stand in for the kernel, so that both are
// known.
#include "check/checker.h"

#include <gtest/gtest.h>

#include "check/draw.h"
#include "check/play.h"
#include "program/parser.h"

namespace faultline::check {
namespace {

std::vector<Case> drawn(std::uint64_t seed, unsigned programs) {
  Random random(seed);
  std::vector<Case> cases;
  for (unsigned i = 0; i < programs; ++i) cases.push_back(draw(random, 20));
  return cases;
}

std::string text(const std::vector<Case>& cases) {
  std::string all;
  for (const Case& one : cases) {
    for (const Operation& operation : one) all += text_of(operation) + "\n";
  }
  return all;
}

std::optional<Difference> first_difference(Checker& checker, unsigned programs) {
  constexpr unsigned kTogether = 50;
  for (unsigned done = 0; done < programs; done += kTogether) {
    auto found = checker.compare(drawn(1 + done, kTogether));
    EXPECT_TRUE(found) << found.error();
    if (found && *found) return **found;
  }
  return std::nullopt;
}

TEST(Draw, GivesTheSameProgramsForTheSameSeedOnly) {
  EXPECT_EQ(text(drawn(7, 20)), text(drawn(7, 20)));
  EXPECT_NE(text(drawn(7, 20)), text(drawn(8, 20)));
}

TEST(Draw, UsesEveryCallThatTheModelHas) {
  const std::string all = text(drawn(1, 300));
  for (const char* call : {"mmap(", "munmap(", "mprotect(", "madvise(", "mremap(", "mseal(", "mlock(", "munlock(",
                           "load(", "store(", "atomic(", "child", "exit("}) {
    EXPECT_NE(all.find(call), std::string::npos) << call;
  }
}

TEST(Checker, FindsNoDifferenceBetweenAModelAndItself) {
  for (const char* name : {"5.10", "6.18", "arm64/7.3"}) {
    const auto against = machine::make_machine(std::string("model:") + name);
    Checker checker(*mm::parse_profile(name), **against);
    const auto found = checker.compare(drawn(3, 100));
    ASSERT_TRUE(found) << found.error();
    EXPECT_FALSE(*found) << name << ": " << (*found)->what;
  }
}

TEST(Checker, FindsEveryPolicyThatIsSwitchedAndShrinksToAFewOperations) {
  for (const char* policy :
       {"upgrade=shared-dirty", "upgrade=page-count", "upgrade=exclusive-dirty", "zero-page=forbidden", "exec-only=pku",
        "seal=absent", "seal=upfront", "guards=absent", "merge=faulted-neighbour", "uncharge=never",
        "mremap=late-lookup", "mremap=lookup-first"}) {
    SCOPED_TRACE(policy);
    const auto against = machine::make_machine(std::string("model:6.18+") + policy);
    ASSERT_TRUE(against) << against.error();
    Checker checker(*mm::parse_profile("6.18"), **against);
    const auto found = first_difference(checker, 10000);
    ASSERT_TRUE(found);
    const auto shrunk = checker.shrink(*found);
    ASSERT_TRUE(shrunk) << shrunk.error();
    EXPECT_LE(shrunk->played.size(), 8U) << text({shrunk->played});
  }
}

TEST(Checker, WritesAReproducerThatHoldsOnTheModelAndFailsOnTheMachine) {
  const auto against = machine::make_machine("model:6.18+guards=absent");
  Checker checker(*mm::parse_profile("6.18"), **against);
  const auto found = first_difference(checker, 200);
  ASSERT_TRUE(found);
  const auto program = program::parse(checker.reproducer(*found), "reproducer");
  ASSERT_TRUE(program) << program::render(program.error());
  const auto failed = [&](machine::Machine& machine) {
    const run::Report report = machine.run(*program, {});
    return std::ranges::count(report.checks, run::CheckStatus::failed, &run::Check::status);
  };
  EXPECT_EQ(failed(**machine::make_machine("model:6.18")), 0);
  EXPECT_GT(failed(**against), 0);
}

}  // namespace
}  // namespace faultline::check
