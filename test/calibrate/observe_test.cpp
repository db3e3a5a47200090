// Lines of programs become observations where the machine did what the model says, and are left out with a reason
// where it did not. A model with costs stands in for the kernel that counts.
#include "calibrate/observe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/parser.h"

namespace faultline::calibrate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A machine that gives a prepared answer.
class Prepared final : public machine::Machine {
 public:
  explicit Prepared(run::Report report) : report_(std::move(report)) {}
  const program::MachineId& id() const override { return id_; }
  std::string name() const override { return "vm:prepared"; }
  std::string kernel() const override { return "prepared"; }
  run::Report run(const program::Program&, const machine::Settings&) override { return report_; }
  std::expected<std::vector<run::CaseRecord>, std::string> play(const std::vector<run::Case>&) override {
    return std::unexpected("it plays no cases");
  }

 private:
  program::MachineId id_{"vm", "x86-64", "6.12", ""};
  run::Report report_;
};

const mm::Profile& profile() {
  static const mm::Profile found = *mm::parse_profile("6.12");
  return found;
}

/// What a kernel answers that does what the model does, each call in 1,000 instructions.
run::Report answer(const program::Program& program) {
  const auto model = machine::make_machine("model:6.12");
  run::Report report = (*model)->run(program, {});
  for (run::Row& row : report.rows) {
    row.metric = run::Metric::instructions;
    row.samples.assign(row.calls, 1000);
  }
  report.kernel = "Linux 6.12";
  return report;
}

program::Program parsed(const char* text) {
  auto program = program::parse(text, "p.fl");
  EXPECT_TRUE(program);
  return std::move(*program);
}

constexpr const char* kText = R"(
a = mmap(NULL, 4 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
repeat 10 {
    store(a, 4 * PAGE)
    madvise(a, 4 * PAGE, MADV_DONTNEED) = 0
    munmap(NULL, 0) = -1 EINVAL
}
)";

TEST(Observe, TakesWhatIsExecutedOftenAndSucceeds) {
  const program::Program program = parsed(kText);
  Prepared machine(answer(program));
  const auto observed = observe({"p.fl", &program}, profile(), machine, {});
  ASSERT_TRUE(observed) << observed.error();
  ASSERT_EQ(observed->lines.size(), 2U);
  EXPECT_EQ(observed->lines[0].operation, cost::Operation::access);
  EXPECT_EQ(observed->lines[0].executions, 10U);
  EXPECT_EQ(observed->lines[0].counted[Counter::fault_write], 40U);
  EXPECT_EQ(observed->lines[0].counted[Counter::accesses], 40U);
  EXPECT_EQ(observed->lines[0].instructions, 1000);
  EXPECT_EQ(observed->lines[1].operation, cost::Operation::madvise_dontneed);
  EXPECT_EQ(observed->lines[1].counted[Counter::pages_freed], 40U);
  EXPECT_EQ(observed->kernel, "Linux 6.12");
  EXPECT_THAT(observed->left_out, IsEmpty());
}

TEST(Observe, LeavesOutALineThatTookOtherFaults) {
  const program::Program program = parsed(kText);
  run::Report report = answer(program);
  report.rows[1].counted[Counter::exceptions] *= 2;
  Prepared machine(std::move(report));
  const auto observed = observe({"p.fl", &program}, profile(), machine, {});
  ASSERT_TRUE(observed) << observed.error();
  EXPECT_EQ(observed->lines.size(), 1U);
  EXPECT_THAT(observed->left_out,
              ElementsAre(HasSubstr("p.fl:4: store(a, 4 * PAGE): it took 8 faults, on the model 4")));
}

TEST(Observe, LeavesOutALineThatFailedElsewhere) {
  const program::Program program = parsed(kText);
  run::Report report = answer(program);
  report.rows[2].failures = 3;
  Prepared machine(std::move(report));
  const auto observed = observe({"p.fl", &program}, profile(), machine, {});
  ASSERT_TRUE(observed) << observed.error();
  EXPECT_THAT(observed->left_out, ElementsAre(HasSubstr("3 of 10 executions failed, on the model 0 of 10")));
}

TEST(Observe, RefusesAMachineThatCountsNoInstructions) {
  const program::Program program = parsed(kText);
  run::Report report = answer(program);
  for (run::Row& row : report.rows) row.metric = run::Metric::nanoseconds;
  Prepared machine(std::move(report));
  const auto observed = observe({"p.fl", &program}, profile(), machine, {});
  ASSERT_FALSE(observed);
  EXPECT_THAT(observed.error(), HasSubstr("expected vm:KERNEL"));
}

TEST(Observe, SaysWhyAProgramDidNotRunToItsEnd) {
  const program::Program program = parsed("store(8)\n");
  Prepared machine(answer(program));
  const auto observed = observe({"p.fl", &program}, profile(), machine, {});
  ASSERT_FALSE(observed);
  EXPECT_THAT(observed.error(), HasSubstr("p.fl: model:6.12 did not run it to its end (line 1)"));
}

TEST(Observe, LeavesOutFirstTouchesByAtomicsThatQemuReadsFirst) {
  const program::Program program = parsed(R"(
a = mmap(NULL, 4 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
repeat 10 {
    atomic(a, 4 * PAGE)
    atomic(a, 4 * PAGE)
    madvise(a, 4 * PAGE, MADV_DONTNEED) = 0
}
)");
  Prepared machine(answer(program));
  const auto observed = observe({"p.fl", &program}, profile(), machine, {});
  ASSERT_TRUE(observed) << observed.error();
  ASSERT_EQ(observed->lines.size(), 2U);
  EXPECT_EQ(observed->lines[0].line, 5U);
  EXPECT_THAT(observed->left_out, ElementsAre(HasSubstr("p.fl:4: atomic(a, 4 * PAGE): QEMU reads before")));
}

}  // namespace
}  // namespace faultline::calibrate
