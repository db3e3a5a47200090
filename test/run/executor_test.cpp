// What the executor does with a program, on a kernel that has no memory.

#include <algorithm>

#include "fake_kernel.h"

namespace faultline::run::test {
namespace {

const Row& row(const Report& report, std::uint32_t line, RowKind kind = RowKind::operation) {
  const auto found = std::ranges::find_if(report.rows, [&](const Row& r) { return r.line == line && r.kind == kind; });
  if (found == report.rows.end()) throw std::runtime_error("no such row");
  return *found;
}

TEST(Executor, ParamsAreReplacedBeforeWhatIsMadeOfThem) {
  Script script;
  EXPECT_EQ(execute("param n = 2\nlet size = n * PAGE\nbrk(size)\n", script, {{"n", 3}}).ending, Ending::completed);
  EXPECT_EQ(script.log, (std::vector<std::string>{"brk 12288"}));
}

TEST(Executor, ForRunsFromItsFirstValueToOneBelowItsLimit) {
  Script script;
  execute("for i in 2..5 {\n  brk(i)\n}\nfor i in 5..2 {\n  brk(99)\n}\n", script);
  EXPECT_EQ(script.log, (std::vector<std::string>{"brk 2", "brk 3", "brk 4"}));
}

TEST(Executor, TheResultOfACallIsBoundAndAFailureIsMinusItsErrno) {
  Script script;
  script.error = Errno{ENOMEM};
  const Report report = execute("a = brk(5)\nexpect a == -ENOMEM\n", script);
  ASSERT_EQ(report.checks.size(), 1U);
  EXPECT_EQ(report.checks[0].status, CheckStatus::held);
  EXPECT_EQ(row(report, 1).failures, 1U);
}

TEST(Executor, AFailedAssertionIsRecordedAndTheProgramGoesOn) {
  Script script;
  script.error = Errno{ENOMEM};
  const Report report = execute("mprotect(PAGE, PAGE, 0) = 0\nmprotect(PAGE, PAGE, 0) = -1 ENOMEM\n", script);
  EXPECT_EQ(report.ending, Ending::completed);
  EXPECT_EQ(report.checks[0].status, CheckStatus::failed);
  EXPECT_EQ(report.checks[0].detail, "returned -1 ENOMEM, expected 0");
  EXPECT_EQ(report.checks[1].status, CheckStatus::held);
}

TEST(Executor, TheFirstFailureOfManyEvaluationsIsKeptWithItsNumber) {
  const Report report = execute("for i in 0..10 {\n  brk(i / 3) = i / 3 * (i < 4)\n}\n");
  EXPECT_EQ(report.checks[0].evaluations, 10U);
  EXPECT_EQ(report.checks[0].status, CheckStatus::failed);
  EXPECT_EQ(report.checks[0].detail, "returned 1, expected 0 (evaluation 5)");
}

TEST(Executor, AnUnassertedSignalEndsTheProgramAndAnAssertedOneDoesNot) {
  Script script;
  script.signal = Signal{kSigSegv, kSegvAccErr, Addr{4096}};
  const Report report = execute("store(PAGE) = SIGSEGV SEGV_ACCERR\nstore(PAGE) = 0\nload(PAGE)\nbrk(0)\n", script);
  EXPECT_EQ(report.checks[0].status, CheckStatus::held);
  EXPECT_EQ(report.checks[1].status, CheckStatus::failed);
  EXPECT_EQ(report.checks[1].detail, "ended in SIGSEGV SEGV_ACCERR at 0x1000, expected no signal");
  EXPECT_EQ(report.ending, Ending::signal);
  EXPECT_EQ(report.ended_at.line, 3U);
  EXPECT_EQ(row(report, 4).calls, 0U);
}

TEST(Executor, DivisionByZeroIsMisuseWithItsPlace) {
  const Report report = execute("let zero = 0\nlet x = 4 % zero\n");
  EXPECT_EQ(report.ending, Ending::misuse);
  EXPECT_EQ(report.ended_at.line, 2U);
}

TEST(Executor, AnUnalignedAtomicAndAStrideOfZeroAreMisuse) {
  EXPECT_EQ(execute("atomic(4)\n").ending, Ending::misuse);
  EXPECT_EQ(execute("atomic(PAGE, PAGE, 12)\n").ending, Ending::misuse);
  EXPECT_EQ(execute("store(PAGE, PAGE, 0)\n").ending, Ending::misuse);
  EXPECT_EQ(execute("atomic(PAGE, PAGE, 16)\n").ending, Ending::completed);
}

TEST(Executor, AccessesAreOnePerStrideBelowTheEnd) {
  Script script;
  execute("store(0, 3 * PAGE)\nstore(0, 3 * PAGE + 1)\nstore(0)\nstore(0, 64, 8)\nstore(0, 0)\n", script);
  EXPECT_EQ(script.log,
            (std::vector<std::string>{"access 0 x3", "access 0 x4", "access 0 x1", "access 0 x8", "access 0 x0"}));
}

TEST(Executor, LongRunsOfAccessesAreSplitAndCountAsOneExecution) {
  Script script;
  const Report report = execute("store(0, 250 * PAGE)\n", script);
  EXPECT_EQ(script.log, (std::vector<std::string>{"access 0 x100", "access 409600 x100", "access 819200 x50"}));
  EXPECT_EQ(row(report, 1).calls, 1U);
  EXPECT_EQ(row(report, 1).counted[Counter::exceptions], 250U);
  EXPECT_EQ(row(report, 1).samples, (std::vector<double>{250}));
}

TEST(Executor, ARepeatedMeasureCountsOnEvenRepetitionsAndTimesOnOddOnes) {
  const Report report = execute("measure \"m\" repeat 6 {\n  store(0, 2 * PAGE)\n  brk(1)\n}\n");
  const Row& store = row(report, 2);
  EXPECT_EQ(store.calls, 6U);
  EXPECT_EQ(store.counted_calls, 3U);
  EXPECT_EQ(store.counted[Counter::exceptions], 6U);
  EXPECT_EQ(store.samples, (std::vector<double>{2, 2, 2}));
  const Row& block = row(report, 1, RowKind::measure);
  EXPECT_EQ(block.calls, 6U);
  EXPECT_EQ(block.samples, (std::vector<double>{12, 12, 12}));
  EXPECT_EQ(block.counted_calls, 6U);
  EXPECT_EQ(block.counted[Counter::exceptions], 12U);
}

TEST(Executor, TimedRepetitionsDoNotReadTheCountersAroundEachOperation) {
  Script script;
  execute("measure \"m\" repeat 2 {\n  brk(1)\n  brk(2)\n  brk(3)\n}\n", script);
  EXPECT_EQ(script.readings, 3U * 2 + 2);
}

TEST(Executor, AFaultInATimedRepetitionIsInTheBlocksTotal) {
  Script script;
  script.extra_fault_on_call = 2;
  const Report report = execute("measure \"m\" repeat 4 {\n  brk(1)\n}\nexpect faults(\"m\") == 0\n", script);
  EXPECT_EQ(row(report, 1, RowKind::measure).counted[Counter::exceptions], 1U);
  EXPECT_EQ(row(report, 2).counted[Counter::exceptions], 0U);
  EXPECT_EQ(report.checks[0].status, CheckStatus::failed);
  EXPECT_EQ(report.checks[0].detail, "exceptions of \"m\": 1 in 4 repetitions, not the same in each");
}

TEST(Executor, ASingleExecutionIsBothCountedAndTimed) {
  const Report report = execute("measure \"m\" {\n  store(0, PAGE)\n}\n");
  EXPECT_EQ(row(report, 2).counted_calls, 1U);
  EXPECT_EQ(row(report, 2).samples.size(), 1U);
  EXPECT_EQ(row(report, 1, RowKind::measure).samples.size(), 1U);
}

TEST(Executor, NestedMeasuresAddUpToTheOuterOne) {
  const Report report = execute(
      "measure \"outer\" repeat 4 {\n  measure \"inner\" repeat 3 {\n    store(0, PAGE)\n  }\n  store(0, PAGE)\n}\n"
      "expect faults(\"outer\") == 4 && faults(\"inner\") == 1\n");
  EXPECT_EQ(report.checks[0].status, CheckStatus::held) << report.checks[0].detail;
  EXPECT_EQ(row(report, 1, RowKind::measure).samples, (std::vector<double>{4, 4}));
  EXPECT_EQ(row(report, 2, RowKind::measure).calls, 12U);
  EXPECT_EQ(row(report, 3).measure, "inner");
  EXPECT_EQ(row(report, 5).measure, "outer");
}

TEST(Executor, WhatChildrenAndThreadsDoIsCountedByTheMeasureAround) {
  const Report report = execute(
      "measure \"m\" repeat 2 {\n  child {\n    store(0, PAGE)\n  }\n  threads 3 {\n    store(thread, PAGE)\n  }\n}\n"
      "expect faults(\"m\") == 4\n");
  EXPECT_EQ(report.checks[0].status, CheckStatus::held) << report.checks[0].detail;
  EXPECT_EQ(row(report, 6).calls, 6U);
}

TEST(Executor, AChildsVariablesAreItsOwn) {
  const Report report = execute("let x = 1\nchild {\n  x = 2\n}\nexpect x == 1\n");
  EXPECT_EQ(report.checks[0].status, CheckStatus::held);
}

TEST(Executor, AChildExitsOnceOnly) {
  const Report report = execute("child \"c\" {\n}\nexit(\"c\")\nexit(\"c\")\n");
  EXPECT_EQ(report.ending, Ending::misuse);
  EXPECT_EQ(report.ended_at.line, 4U);
}

TEST(Executor, RowsAndChecksStandInProgramOrderWhetherReachedOrNot) {
  const Report report = execute("brk(0) = 0\nmunmap(0, 1)\nmeasure \"m\" {\n  brk(1)\n}\nexpect 1 == 1\n");
  EXPECT_EQ(report.ending, Ending::unsupported);
  EXPECT_EQ(report.detail, "fake does not do munmap yet");
  ASSERT_EQ(report.rows.size(), 4U);
  EXPECT_EQ(report.rows[2].text, "brk(1)");
  EXPECT_EQ(report.rows[3].text, "m");
  ASSERT_EQ(report.checks.size(), 2U);
  EXPECT_EQ(report.checks[1].status, CheckStatus::skipped);
  EXPECT_EQ(report.checks[1].detail, "never reached");
}

TEST(Executor, ExpectationsForOtherMachinesAreNotEvaluated) {
  const Report report = execute("expect 1 == 2 on model, live\nexpect resident(0, PAGE) == 1\n");
  EXPECT_EQ(report.checks[0].status, CheckStatus::elsewhere);
  EXPECT_EQ(report.checks[0].evaluations, 0U);
  EXPECT_EQ(report.checks[1].status, CheckStatus::skipped);
  EXPECT_EQ(report.checks[1].detail, "it is a fake");
}

TEST(Executor, AFailedExpectationShowsWhatWasFound) {
  const Report report = execute("expect vmas() == 3\nexpect vmas() == 7 && vmas() < 2\n");
  EXPECT_EQ(report.checks[0].detail, "found 7, expected 3");
  EXPECT_EQ(report.checks[1].detail, "found 7, expected < 2");
}

TEST(Executor, ShapesAreThoseOfTheFirstExecution) {
  const Report report = execute("for i in 1..4 {\n  mprotect(PAGE, i * PAGE, 0)\n}\n");
  EXPECT_EQ(row(report, 2).before.vmas, 1U);
  EXPECT_EQ(row(report, 2).calls, 3U);
}

TEST(Executor, WrappingArithmeticAndWideShiftsAreDefined) {
  const Report report = execute("expect 0 - 1 == -1\nexpect 1 << 64 == 0\nexpect -1 >> 63 == 1\nexpect ~0 == -1\n");
  for (const Check& check : report.checks) EXPECT_EQ(check.status, CheckStatus::held) << check.text << check.detail;
}

}  // namespace
}  // namespace faultline::run::test
