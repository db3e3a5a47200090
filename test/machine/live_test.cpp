// What the machine "live" promises about processes: whatever a program does is a result.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>

#include "harness.h"

#include <stop_token>
#include <thread>

namespace faultline::machine::test {
namespace {

using run::Ending;

Settings limited(std::chrono::milliseconds limit) {
  Settings settings;
  settings.time_limit = limit;
  return settings;
}

Settings with_param(std::string name, std::uint64_t value) {
  Settings settings;
  settings.params = {{std::move(name), value}};
  return settings;
}

TEST(Live, FirstTouchOf32PagesTakes32Faults) {
  const run::Report report = run_on("live", R"(
a = mmap(NULL, 32 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, 32 * PAGE)
)");
  EXPECT_EQ(problems(report), "");
  const run::Row& row = row_at(report, 3);
  EXPECT_EQ(row.counted[Counter::exceptions], 32U);
  EXPECT_EQ(row.counted[Counter::minor_faults], 32U);
  EXPECT_EQ(row.calls, 1U);
  EXPECT_EQ(row.counted_calls, 1U);
  ASSERT_EQ(row.samples.size(), 1U);
  EXPECT_GT(row.samples[0], 0);
  EXPECT_EQ(row.metric, run::Metric::nanoseconds);
  EXPECT_EQ(row.before.vmas, 1U);
  EXPECT_EQ(row.before.present, 0U);
  EXPECT_EQ(row.after.present, 32U);
}

TEST(Live, CountsOnEvenRepetitionsAndTimesOnOddOnes) {
  const run::Report report = run_on("live", R"(
a = mmap(NULL, 8 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
measure "touch" repeat 100 {
    store(a, 8 * PAGE)
    madvise(a, 8 * PAGE, MADV_DONTNEED) = 0
}
expect faults("touch") == 8
)");
  EXPECT_EQ(problems(report), "");
  const run::Row& row = row_at(report, 4);
  EXPECT_EQ(row.calls, 100U);
  EXPECT_EQ(row.counted_calls, 50U);
  EXPECT_EQ(row.counted[Counter::exceptions], 400U);
  EXPECT_EQ(row.samples.size(), 50U);
  const run::Row& block = report.rows.back();
  EXPECT_EQ(block.kind, run::RowKind::measure);
  EXPECT_EQ(block.text, "touch");
  EXPECT_EQ(block.calls, 100U);
  EXPECT_EQ(block.samples.size(), 50U);
  EXPECT_EQ(block.counted_calls, 100U);
  EXPECT_EQ(block.counted[Counter::exceptions], 800U);
}

TEST(Live, AnUnassertedSignalEndsTheProgramWithItsCodeAndItsRows) {
  const run::Report unmapped = run_on("live", R"(
a = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
munmap(a, PAGE) = 0
store(a, 1)
load(a, 1)
)");
  EXPECT_EQ(unmapped.ending, Ending::signal);
  ASSERT_TRUE(unmapped.signal);
  EXPECT_EQ(unmapped.signal->number, kSigSegv);
  EXPECT_EQ(unmapped.signal->code, kSegvMapErr);
  EXPECT_EQ(unmapped.ended_at.line, 4U);
  EXPECT_EQ(row_at(unmapped, 3).calls, 1U);
  EXPECT_EQ(row_at(unmapped, 4).failures, 1U);
  EXPECT_EQ(row_at(unmapped, 5).calls, 0U);

  const run::Report forbidden = run_on("live", R"(
a = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
load(a, 1)
)");
  EXPECT_EQ(forbidden.ending, Ending::signal);
  ASSERT_TRUE(forbidden.signal);
  EXPECT_EQ(forbidden.signal->code, kSegvAccErr);
}

TEST(Live, AnAssertedSignalContinues) {
  const run::Report report = run_on("live", R"(
a = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
load(a, 1) = SIGSEGV SEGV_ACCERR
store(a, 1) = SIGSEGV SEGV_MAPERR
mprotect(a, PAGE, PROT_READ) = 0
)");
  EXPECT_EQ(report.ending, Ending::completed);
  ASSERT_EQ(report.checks.size(), 3U);
  EXPECT_EQ(report.checks[0].status, run::CheckStatus::held);
  EXPECT_EQ(report.checks[1].status, run::CheckStatus::failed);
  EXPECT_NE(report.checks[1].detail.find("expected SIGSEGV SEGV_MAPERR"), std::string::npos) << report.checks[1].detail;
  EXPECT_EQ(report.checks[2].status, run::CheckStatus::held);
  EXPECT_EQ(row_at(report, 3).counted[Counter::exceptions], 1U);
  EXPECT_EQ(row_at(report, 3).counted[Counter::minor_faults], 0U);
}

TEST(Live, AProgramThatPullsItsOwnStackAwayIsKilledAndKeepsItsRows) {
  const run::Report report = run_on("live", R"(
a = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, PAGE)
munmap(PAGE, 0x7ffffffff000 - PAGE)
)");
  EXPECT_EQ(report.ending, Ending::signal);
  ASSERT_TRUE(report.signal);
  EXPECT_EQ(report.signal->number, kSigSegv);
  EXPECT_EQ(report.ended_at.line, 4U);
  EXPECT_EQ(row_at(report, 3).counted[Counter::exceptions], 1U);
}

/// A run that is asked to stop `after` it was started.
run::Report stopped(std::chrono::milliseconds after) {
  std::stop_source stop;
  Settings settings;
  settings.stop = stop.get_token();
  const std::jthread impatient([&] {
    std::this_thread::sleep_for(after);
    stop.request_stop();
  });
  return run_on("live", "brk(0)\nrepeat 1000000000000 {\n  getppid()\n}\n", settings);
}

TEST(Live, ARunThatIsAskedToStopKeepsItsRows) {
  // A busy machine may be asked before it has come to the loop.
  std::chrono::milliseconds after{300};
  run::Report report = stopped(after);
  while (row_at(report, 3).calls == 0 && after < std::chrono::seconds(10)) report = stopped(after *= 2);
  EXPECT_EQ(report.ending, Ending::interrupted) << report.detail;
  EXPECT_EQ(row_at(report, 1).calls, 1U);
  EXPECT_GT(row_at(report, 3).calls, 0U);
}

TEST(Live, AHangingProgramIsEndedByTheTimeLimitAndKeepsItsRows) {
  const auto begin = std::chrono::steady_clock::now();
  const run::Report report = run_on("live", R"(
a = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, PAGE)
child "sleeper" {
    getppid()
}
repeat 1 << 62 {
    getppid()
}
)",
                                    limited(std::chrono::milliseconds(3000)));
  EXPECT_EQ(report.ending, Ending::timeout);
  EXPECT_EQ(report.ended_at.line, 8U);
  EXPECT_EQ(row_at(report, 3).counted[Counter::exceptions], 1U);
  EXPECT_GT(row_at(report, 8).calls, 0U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Live, NothingThatAProgramStartedOutlivesItsRun) {
  // Orphans come to this process, which would then have a child.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const run::Report report = run_on("live", R"(
child "one" {
    child "two" {
        getppid()
    }
}
child {
    repeat 1 << 62 {
        getppid()
    }
}
)",
                                    limited(std::chrono::milliseconds(200)));
  EXPECT_EQ(report.ending, Ending::timeout);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  pid_t left = 0;
  // The dead among them have to be collected first.
  while ((left = waitpid(-1, nullptr, WNOHANG)) >= 0 && std::chrono::steady_clock::now() < limit) usleep(1000);
  EXPECT_EQ(left, -1);
  EXPECT_EQ(errno, ECHILD);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/// Runs `body` in a forked process in which perf_event_open is not permitted; true if it returned true.
template <class Body>
bool without_perf(Body body) {
  const pid_t process = fork();
  if (process == 0) {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(rules), rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
      _exit(2);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Live, WithoutPerfExceptionsAreDerivedAndTheReportSaysSo) {
  EXPECT_TRUE(without_perf([] {
    const run::Report report = run_on("live", R"(
a = mmap(NULL, 32 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, 32 * PAGE)
madvise(a, 32 * PAGE, MADV_DONTNEED) = 0
madvise(a, 32 * PAGE, MADV_POPULATE_WRITE) = 0
mprotect(a, PAGE, PROT_NONE) = 0
load(a, 1) = SIGSEGV SEGV_ACCERR
measure "m" repeat 4 {
    madvise(a + PAGE, 8 * PAGE, MADV_DONTNEED) = 0
    store(a + PAGE, 8 * PAGE)
}
expect faults("m") == 8
)");
    bool said = false;
    for (const std::string& note : report.notes) said |= note.find("derived") != std::string::npos;
    return problems(report).empty() && said && row_at(report, 3).counted[Counter::exceptions] == 32 &&
           row_at(report, 5).counted[Counter::exceptions] == 0 &&
           row_at(report, 5).counted[Counter::minor_faults] == 32 &&
           row_at(report, 7).counted[Counter::exceptions] == 1;
  }));
}

TEST(Live, AChildThatDiesOfASignalEndsTheProgram) {
  const run::Report report = run_on("live", R"(
child {
    load(0, 1)
}
getppid()
)");
  EXPECT_EQ(report.ending, Ending::signal);
  EXPECT_EQ(report.ended_at.line, 3U);
  EXPECT_EQ(row_at(report, 5).calls, 0U);
}

TEST(Live, AProgramAtTheMapLimitStillReports) {
  const run::Report report = run_on("live", R"(
a = mmap(NULL, 2 * max_map_count() * PAGE, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0)
for i in 0..max_map_count() {
    mprotect(a + (2 * i + 1) * PAGE, PAGE, PROT_NONE)
}
expect vmas() == max_map_count()
child {
    expect vmas() == max_map_count()
}
)");
  EXPECT_EQ(problems(report), "");
  EXPECT_GT(row_at(report, 4).failures, 0U);
}

TEST(Live, ThreadsShareMemoryAndTheirCountsAddUp) {
  const run::Report report = run_on("live", R"(
let size = 64 * PAGE
a = mmap(NULL, 8 * size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
measure "touch" {
    threads 8 {
        store(a + thread * size, size, PAGE, thread + 1)
    }
}
expect faults("touch") == 512
expect resident(a, 8 * size) == 512
expect value(a + 7 * size) == 8
)");
  EXPECT_EQ(problems(report), "");
  EXPECT_EQ(row_at(report, 6).calls, 8U);
  EXPECT_EQ(row_at(report, 6).counted[Counter::exceptions], 512U);
  EXPECT_EQ(row_at(report, 6).samples.size(), 8U);
}

TEST(Live, ADivisionByZeroIsMisuseAndNamesItsPlace) {
  const run::Report report = run_on("live", "let zero = 0\nlet x = 1 / zero\n");
  EXPECT_EQ(report.ending, Ending::misuse);
  EXPECT_EQ(report.detail, "division by zero");
  EXPECT_EQ(report.ended_at.line, 2U);
}

TEST(Live, WhatThisKernelDoesNotShowIsSkippedWithAReason) {
  const run::Report report = run_on("live", R"(
measure "m" {
    getppid()
}
expect count(vma_visits, "m") == 0
expect faults("m") == 1 on model
)");
  EXPECT_EQ(report.ending, Ending::completed);
  ASSERT_EQ(report.checks.size(), 2U);
  EXPECT_EQ(report.checks[0].status, run::CheckStatus::skipped);
  EXPECT_EQ(report.checks[0].detail, "live does not see vma_visits");
  EXPECT_EQ(report.checks[1].status, run::CheckStatus::elsewhere);
  EXPECT_EQ(report.checks[1].evaluations, 0U);
}

TEST(Live, SetReplacesAParamAndAnUnknownOneIsMisuse) {
  const char* program = "param pages = 1\nexpect pages == 7\n";
  EXPECT_EQ(problems(run_on("live", program, with_param("pages", 7))), "");
  const run::Report report = run_on("live", program, with_param("page", 7));
  EXPECT_EQ(report.ending, Ending::misuse);
  EXPECT_EQ(report.detail, "the program has no param page");
}

TEST(Live, FilesOpenWhereTheyWouldInAnyProcess) {
  EXPECT_EQ(problems(run_on("live", R"(
f = memfd_create("heap", 0) = 3
ftruncate(f, 2 * PAGE) = 0
a = mmap(NULL, 2 * PAGE, PROT_READ|PROT_WRITE, MAP_SHARED, f, 0)
store(a, 2 * PAGE, PAGE, 5)
close(f) = 0
expect value(a + PAGE) == 5
)")),
            "");
}

TEST(Live, TheNumberOfAreasIsStableWhileAProgramRuns) {
  EXPECT_EQ(problems(run_on("live", R"(
let start = vmas()
measure "m" repeat 20000 {
    getppid()
}
expect vmas() == start
child {
    threads 4 {
        getppid()
    }
}
threads 4 {
    getppid()
}
expect vmas() == start
)")),
            "");
}

TEST(Live, AMissingAgentSaysHowToGetIt) {
  ASSERT_EQ(setenv("FAULTLINE_AGENT", "/nonexistent/agent", 1), 0);
  const run::Report report = run_on("live", "getppid()\n");
  unsetenv("FAULTLINE_AGENT");
  EXPECT_EQ(report.ending, Ending::failed);
  EXPECT_NE(report.detail.find("/nonexistent/agent"), std::string::npos);
}

TEST(Live, SomethingElseInThePlaceOfTheAgentIsAFailureAndNoHang) {
  ASSERT_EQ(setenv("FAULTLINE_AGENT", "/bin/true", 1), 0);
  const run::Report report = run_on("live", "getppid()\n");
  unsetenv("FAULTLINE_AGENT");
  EXPECT_EQ(report.ending, Ending::failed);
}

}  // namespace
}  // namespace faultline::machine::test
