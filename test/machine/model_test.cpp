// What the model machine adds to the model: names, endings, steps. The model itself is tested in test/mm.

#include <algorithm>

#include "harness.h"

#include <stop_token>

namespace faultline::machine::test {
namespace {

using run::Ending;

/// The acceptance figures of the project's second issue: faults per cycle of 32 pages.
constexpr const char* kCycle = R"(
let size = 32 * PAGE
a = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, size)
measure "cycle" repeat 10 {
    mprotect(a, size, PROT_NONE) = 0
    mprotect(a, size, PROT_READ|PROT_WRITE) = 0
    store(a, size)
}
expect faults("cycle") == 32 on model:5.10
expect faults("cycle") == 0 on model:5.10+upgrade=page-count, model:>=6.1
)";

TEST(Model, TheCycleFaultsByPolicyAsTheKernelsDo) {
  for (const char* name : {"model:5.10", "model:5.10+upgrade=page-count", "model:6.1", "model:6.12", "model:6.18"}) {
    const run::Report report = run_on(name, kCycle);
    EXPECT_EQ(report.ending, Ending::completed) << name << report.detail;
    const auto held = std::ranges::count(report.checks, run::CheckStatus::held, &run::Check::status);
    EXPECT_EQ(held, 3) << name << problems(report);
    EXPECT_EQ(report.machine, name);
  }
}

TEST(Model, FirstTouchByAtomicTakesTheExceptionsOfItsPolicies) {
  constexpr const char* kProgram = R"(
text = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
code(text)
mprotect(text, PAGE, PROT_EXEC) = 0
a = mmap(NULL, 64 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
b = mmap(NULL, 64 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
measure "readable" {
    atomic(a, 64 * PAGE)
}
measure "own text" {
    atomic(b, 64 * PAGE) at text
}
)";
  const auto faults = [&](const char* name, std::string_view measure) {
    const run::Report report = run_on(name, kProgram);
    EXPECT_EQ(problems(report), "") << name;
    const auto row = std::ranges::find(report.rows, measure, &run::Row::text);
    return static_cast<double>(row->counted[Counter::exceptions]) / 64;
  };
  EXPECT_EQ(faults("model:arm64/6.8", "readable"), 2);
  EXPECT_EQ(faults("model:arm64/6.8+rmw=write-first", "readable"), 1);
  EXPECT_EQ(faults("model:arm64/6.8+rmw=write-first+exec-only=epan", "own text"), 3);
  EXPECT_EQ(faults("model:6.12", "readable"), 1);
}

TEST(Model, ACallThatIsNotModelledEndsTheRunAndIsNamed) {
  const run::Report report = run_on("model:6.12", "\nprctl(PR_SET_THP_DISABLE, 1)\n");
  EXPECT_EQ(report.ending, Ending::unsupported);
  EXPECT_EQ(report.detail, "model does not do a prctl other than PR_SET_MDWE, PR_GET_MDWE and PR_SET_VMA yet");
  EXPECT_EQ(report.ended_at.line, 2U);
}

TEST(Model, AMappingOfWhatIsNotModelledIsNotTakenForAnother) {
  EXPECT_EQ(
      run_on("model:6.12", "z = open(\"/dev/zero\", O_RDWR)\nmmap(NULL, PAGE, PROT_READ, MAP_SHARED, z, 0)\n").detail,
      "model does not do an mmap of anything but a memfd yet");
  EXPECT_EQ(run_on("model:6.12", "mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB, -1, 0)\n").ending,
            Ending::unsupported);
}

/// Asks for a stop when an operation has ended: after a time it might come before the first one.
class StopAfter final : public run::StepListener, public mm::Observer {
 public:
  StopAfter(std::uint64_t step, std::stop_source& stop) : step_(step), stop_(stop) {}
  void begin(const run::Step& /*step*/) override {}
  void end(const run::Step& step, const run::StepOutcome& /*outcome*/) override {
    if (step.number == step_) stop_.request_stop();
  }
  void on(const mm::Event& /*event*/) override {}

 private:
  std::uint64_t step_;
  std::stop_source& stop_;
};

TEST(Model, ARunThatIsAskedToStopKeepsItsRows) {
  std::stop_source stop;
  Settings settings;
  settings.stop = stop.get_token();
  StopAfter impatient(3, stop);
  const auto profile = mm::parse_profile("6.12");
  ASSERT_TRUE(profile);
  const run::Report report =
      explain(*profile, parsed("brk(0)\nrepeat 1000000000000 {\n  getppid()\n}\n"), settings, impatient, impatient);
  EXPECT_EQ(report.ending, Ending::interrupted) << report.detail;
  EXPECT_EQ(row_at(report, 1).calls, 1U);
  EXPECT_GE(row_at(report, 3).calls, 2U);
}

TEST(Model, AStopThatWasAskedForBeforeTheRunEndsItAtOnceEvenInOneLongOperation) {
  std::stop_source stop;
  stop.request_stop();
  Settings settings;
  settings.stop = stop.get_token();
  const run::Report report = run_on("model:6.12",
                                    "a = mmap(NULL, 1G, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n"
                                    "store(a, 1G)\n",
                                    settings);
  EXPECT_EQ(report.ending, run::Ending::interrupted) << report.detail;
  EXPECT_EQ(row_at(report, 2).calls, 0U);
}

TEST(Model, AnEndlessProgramMeetsTheTimeLimit) {
  Settings settings;
  settings.time_limit = std::chrono::milliseconds(50);
  EXPECT_EQ(run_on("model:6.12", "repeat 1 << 62 {\n}\n", settings).ending, Ending::timeout);
  const run::Report accesses = run_on("model:6.12", R"(
a = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
repeat 1 << 62 {
    store(a, PAGE, 1)
}
)",
                                      settings);
  EXPECT_EQ(accesses.ending, Ending::timeout);
}

TEST(Model, TwoRunsGiveTheSameFigures) {
  const run::Report first = run_on("model:6.18", kCycle);
  const run::Report second = run_on("model:6.18", kCycle);
  ASSERT_EQ(first.rows.size(), second.rows.size());
  for (std::size_t i = 0; i < first.rows.size(); ++i) EXPECT_EQ(first.rows[i].counted, second.rows[i].counted);
}

TEST(Model, IsNamedAsItWasAskedFor) {
  const auto machine = make_machine("model:arm64/6.8+rmw=write-first");
  ASSERT_TRUE(machine);
  EXPECT_EQ((*machine)->name(), "model:arm64/6.8+rmw=write-first");
  EXPECT_EQ((*machine)->id().kind, "model");
  EXPECT_EQ((*machine)->id().arch, "arm64");
  EXPECT_EQ((*machine)->id().version, "6.8");
  EXPECT_EQ((*machine)->id().policies, "+rmw=write-first");
  EXPECT_EQ((*machine)->kernel(), "model of Linux 6.8 (arm64) with rmw=write-first");
}

TEST(Machines, ANameThatIsNoMachineSaysWhatWasExpected) {
  EXPECT_NE(make_machine("life").error().find("expected live, model:VERSION"), std::string::npos);
  EXPECT_FALSE(make_machine("model:9.99"));
  EXPECT_FALSE(make_machine(""));
}

class Steps final : public run::StepListener, public mm::Observer {
 public:
  void begin(const run::Step& step) override { log += std::to_string(step.number) + "(" + step.statement->text; }
  void end(const run::Step& step, const run::StepOutcome& outcome) override {
    log += ")" + std::to_string(outcome.counted[Counter::exceptions]) + (outcome.signal ? "!" : "") +
           (step.process != 0 ? "'" : "") + " ";
  }
  void on(const mm::Event& event) override {
    if (event.kind == mm::EventKind::exception) log += "*";
  }
  std::string log;
};

TEST(Explain, TellsEachStepWithTheDecisionsThatItTook) {
  const program::Program program =
      parsed(R"(a = mmap(NULL, 2 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, 2 * PAGE)
child {
    store(a)
}
store(0) = SIGSEGV
)");
  Steps steps;
  const auto profile = mm::parse_profile("6.12");
  ASSERT_TRUE(profile);
  const run::Report report = explain(*profile, program, checked(), steps, steps);
  EXPECT_EQ(problems(report), "");
  EXPECT_EQ(steps.log,
            "1(a = mmap(NULL, 2 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0))0 "
            "2(store(a, 2 * PAGE)**)2 3(store(a)*)1' 4(store(0) = SIGSEGV*)1! ");
}

}  // namespace
}  // namespace faultline::machine::test
