// The checker finds what differs, and nothing where nothing does. Models stand in for the kernel, so that both are
// known.
#include "check/checker.h"

#include <gtest/gtest.h>

#include "check/draw.h"
#include "check/hunt.h"
#include "program/parser.h"

namespace faultline::check {
namespace {

std::vector<Drawn> drawn(std::uint64_t seed, unsigned programs) {
  Random random(seed);
  std::vector<Drawn> all;
  for (unsigned i = 0; i < programs; ++i) all.push_back(draw(random, 20));
  return all;
}

std::string text(const std::vector<Drawn>& programs) {
  std::string all;
  for (const Drawn& one : programs) {
    for (const Operation& operation : one.operations) all += text_of(operation) + "\n";
  }
  return all;
}

Hunt hunt_between(const char* model, const std::string& against, std::uint64_t programs, unsigned workers = 1) {
  return {.profile = *mm::parse_profile(model),
          .make_machine = [against] { return machine::make_machine("model:" + against); },
          .seed = 1,
          .programs = programs,
          .seconds = {},
          .workers = workers,
          .stop = {},
          .progress = {}};
}

TEST(Draw, GivesTheSameProgramsForTheSameSeedOnly) {
  EXPECT_EQ(text(drawn(7, 20)), text(drawn(7, 20)));
  EXPECT_NE(text(drawn(7, 20)), text(drawn(8, 20)));
}

TEST(Draw, GivesProgramsOfTheLengthAskedFor) {
  for (const Drawn& one : drawn(5, 200)) EXPECT_EQ(one.operations.size(), 20U);
}

TEST(Draw, UsesEveryCallThatTheModelHas) {
  const std::string all = text(drawn(1, 2000));
  for (const char* call :
       {"mmap(",      "munmap(",      "mprotect(", "madvise(",    "mremap(",  "mseal(",        "mlock(",
        "mlock2(",    "munlock(",     "mlockall(", "munlockall(", "mincore(", "msync(",        "prctl(",
        "prlimit64(", "read(",        "write(",    "lseek(",      "fcntl(",   "memfd_create(", "ftruncate(",
        "close(",     "load(",        "store(",    "atomic(",     "fetch(",   "code(",         "child",
        "exit(",      "userfaultfd(", "ioctl(",    "clear_refs("}) {
    EXPECT_NE(all.find(call), std::string::npos) << call;
  }
}

TEST(Draw, KeepsEveryBodyInsideItsParentWhateverIsTakenAway) {
  Random random(9);
  for (const Drawn& one : drawn(11, 300)) {
    const std::size_t first = random.below(one.operations.size());
    const std::size_t last = first + 1 + random.below(one.operations.size() - first);
    const Drawn fewer = without(one, first, last);
    EXPECT_EQ(fewer.operations.size(), one.operations.size() - (last - first));
    // Only what is well formed is decoded.
    EXPECT_TRUE(run::decode_cases(run::encode_cases({case_of(fewer)}, 1))) << text({fewer});
  }
}

TEST(Machines, KeepAMappingThatIsWhereItWasAskedForThoughNobodyWatchesThere) {
  constexpr std::uint64_t kBeside = 0x280000000;
  run::CaseStep map{.kind = run::StepKind::call, .sys = program::Sys::mmap, .count = 6};
  map.arguments = {kBeside, kPageSize, 3, 0x32, ~std::uint64_t{0}, 0};
  run::CaseStep load{.kind = run::StepKind::access, .access = AccessKind::load};
  load.arguments = {kBeside, 0};
  for (const char* name : {"model:6.18", "live"}) {
    SCOPED_TRACE(name);
    const auto records = (*machine::make_machine(name))->play({{Range::of(kArenaStart, kPageSize), {map, load}}});
    ASSERT_TRUE(records) << records.error();
    EXPECT_EQ(records->front()[0].value, kBeside);
    EXPECT_EQ(records->front()[1].outcome, run::StepEnding::done);
  }
}

/// A model that ends the first plays of a case at its third step, as a kernel of a busy machine may.
class Hurried final : public machine::Machine {
 public:
  explicit Hurried(int plays) : plays_(plays) {}
  const program::MachineId& id() const override { return model_->id(); }
  std::string name() const override { return model_->name(); }
  std::string kernel() const override { return model_->kernel(); }
  run::Report run(const program::Program& program, const machine::Settings& settings) override {
    return model_->run(program, settings);
  }
  std::expected<std::vector<run::CaseRecord>, std::string> play(const std::vector<run::Case>& cases) override {
    auto records = model_->play(cases);
    if (plays_-- > 0) std::fill(records->front().begin() + 2, records->front().end(), run::StepRecord{});
    return records;
  }

 private:
  int plays_;
  std::unique_ptr<machine::Machine> model_ = *machine::make_machine("model:6.18");
};

TEST(Checker, PlaysAgainWhatDiffersAndCountsWhatDoesNotDifferAgain) {
  Hurried soon(2);
  Checker patient(*mm::parse_profile("6.18"), soon);
  EXPECT_FALSE(patient.compare(drawn(1, 2))->has_value());
  EXPECT_EQ(patient.disturbed(), 1U);
  Hurried never(1000);
  const auto found = Checker(*mm::parse_profile("6.18"), never).compare(drawn(1, 2));
  ASSERT_TRUE(found && *found);
  EXPECT_NE((*found)->what.find("was not reached"), std::string::npos) << (*found)->what;
}

TEST(Checker, LeavesWhatAProgramNeedsWhenItShrinks) {
  const auto caught = hunt(hunt_between("6.18", "6.18+guards=absent", 5000));
  ASSERT_TRUE(caught && caught->first);
  Difference kept = *caught->first;
  kept.played.needed = 3;
  const auto other = machine::make_machine("model:6.18+guards=absent");
  const auto shrunk = Checker(*mm::parse_profile("6.18"), **other).shrink(kept);
  ASSERT_TRUE(shrunk) << shrunk.error();
  ASSERT_GE(shrunk->played.operations.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(text_of(shrunk->played.operations[i]), text_of(kept.played.operations[i]));
}

TEST(Checker, FindsNoDifferenceBetweenAModelAndItself) {
  for (const char* name : {"5.10", "6.18", "arm64/7.3"}) {
    const auto caught = hunt(hunt_between(name, name, 300));
    ASSERT_TRUE(caught) << caught.error();
    EXPECT_EQ(caught->programs, 300U);
    EXPECT_EQ(caught->operations, 300U * 20U);
    EXPECT_FALSE(caught->first) << name << ": " << caught->first->what;
  }
}

TEST(Checker, FindsEveryPolicyThatIsSwitchedAndShrinksToAFewOperations) {
  for (const char* policy : {"upgrade=shared-dirty", "upgrade=page-count", "upgrade=exclusive-dirty",
                             "zero-page=forbidden", "zero-page=not-on-reads", "pkeys=absent", "seal=absent",
                             "seal=upfront", "guards=absent", "merge=faulted-neighbour", "uncharge=never",
                             "mremap=late-lookup", "mremap=lookup-first", "thp=never", "huge-zero=split"}) {
    SCOPED_TRACE(policy);
    const std::string against = std::string("6.18+") + policy;
    const auto caught = hunt(hunt_between("6.18", against, 30000));
    ASSERT_TRUE(caught) << caught.error();
    ASSERT_TRUE(caught->first);
    const auto machine = machine::make_machine("model:" + against);
    Checker checker(*mm::parse_profile("6.18"), **machine);
    const auto shrunk = checker.shrink(*caught->first);
    ASSERT_TRUE(shrunk) << shrunk.error();
    EXPECT_LE(shrunk->played.operations.size(), 8U) << text({shrunk->played});
  }
}

TEST(Checker, FindsTheSameFirstDifferenceWithAnyNumberOfWorkers) {
  const auto alone = hunt(hunt_between("6.18", "6.18+guards=absent", 5000, 1));
  const auto many = hunt(hunt_between("6.18", "6.18+guards=absent", 5000, 4));
  ASSERT_TRUE(alone && alone->first && many && many->first);
  EXPECT_EQ(text({alone->first->played}), text({many->first->played}));
}

TEST(Checker, WritesAReproducerThatHoldsOnTheModelAndFailsOnTheMachine) {
  const auto against = machine::make_machine("model:6.18+guards=absent");
  Checker checker(*mm::parse_profile("6.18"), **against);
  const auto caught = hunt(hunt_between("6.18", "6.18+guards=absent", 5000));
  ASSERT_TRUE(caught && caught->first);
  const auto program = program::parse(checker.reproducer(*caught->first), "reproducer");
  ASSERT_TRUE(program) << program::render(program.error());
  const auto failed = [&](machine::Machine& machine) {
    const run::Report report = machine.run(*program, {});
    return std::ranges::count(report.checks, run::CheckStatus::failed, &run::Check::status);
  };
  EXPECT_EQ(failed(**machine::make_machine("model:6.18")), 0);
  EXPECT_GT(failed(**against), 0);
}

TEST(Checker, EveryReproducerHoldsOnTheModelThatItWasMadeFrom) {
  const auto model = machine::make_machine("model:6.18");
  Checker checker(*mm::parse_profile("6.18"), **model);
  for (const Drawn& one : drawn(21, 100)) {
    const std::string source = checker.reproducer({one, "nothing"});
    const auto program = program::parse(source, "reproducer");
    ASSERT_TRUE(program) << program::render(program.error()) << source;
    const run::Report report = (*model)->run(*program, {});
    EXPECT_EQ(report.ending, run::Ending::completed) << report.detail << "\n" << source;
    for (const run::Check& check : report.checks) {
      EXPECT_EQ(check.status, run::CheckStatus::held) << check.text << ": " << check.detail << "\n" << source;
    }
  }
}

TEST(Checker, PassesOnWhyAMachineCannotPlay) {
  auto asked = hunt_between("6.18", "6.18", 100, 2);
  asked.make_machine = [] { return std::unexpected(std::string("it is broken")); };
  const auto caught = hunt(asked);
  ASSERT_FALSE(caught);
  EXPECT_EQ(caught.error(), "it is broken");
}

}  // namespace
}  // namespace faultline::check
