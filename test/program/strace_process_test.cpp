// Which process a line is about, and what its forks and execves make of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "program/parser.h"
#include "strace_harness.h"

namespace faultline::program {
namespace {

using test::imported;
using test::text_of;

/// The addresses of the mappings in the order of the program: "10 20" for 0x10000 and 0x20000; blocks in braces.
std::string outline(const StraceProcess& process) {
  std::string text;
  const std::string program = text_of(process);
  for (std::size_t at = 0; at < program.size(); at = program.find('\n', at) + 1) {
    std::string_view line(program.data() + at, program.find('\n', at) - at);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("child")) text += "{ ";
    if (line.starts_with('}')) text += "} ";
    if (line.starts_with("mmap(0x")) text += std::string(line.substr(7, line.find("000,") - 7)) + " ";
    if (line.starts_with("munmap(0x")) text += "-" + std::string(line.substr(9, line.find("000,") - 9)) + " ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

/// A line that maps a page at N * 0x1000.
std::string map(std::string_view prefix, std::string_view page) {
  return std::string(prefix) + "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x" +
         std::string(page) + "000\n";
}

bool has_note(const std::vector<std::string>& notes, std::string_view note) {
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

TEST(StraceProcess, AForkedChildsCallsAreAChildBlockWhereItWasForked) {
  const StraceImport import = imported(map("1 ", "10") + "1 fork() = 2\n" + map("1 ", "20") + map("2 ", "30") +
                                       "2 +++ exited with 0 +++\n" + map("1 ", "40"));
  ASSERT_EQ(import.processes.size(), 1U);
  EXPECT_EQ(outline(import.processes[0]), "10 { 30 } 20 40");
  EXPECT_EQ(import.processes[0].calls, 4U);
}

TEST(StraceProcess, AChildHasItsParentsMemoryAndGivesItBackAlone) {
  // No set-up: both have the page, each unmaps its own.
  const StraceImport import = imported(map("1 ", "10") + "1 clone(child_stack=NULL, flags=SIGCHLD) = 2\n" +
                                       "2 munmap(0x10000, 4096) = 0\n1 munmap(0x10000, 4096) = 0\n");
  EXPECT_EQ(outline(import.processes[0]), "10 { -10 } -10");
}

TEST(StraceProcess, AChildIsKnownBeforeItsForkReturns) {
  const StraceImport import =
      imported("1 fork( <unfinished ...>\n" + map("2 ", "30") + "1 <... fork resumed>) = 2\n" + map("1 ", "40"));
  EXPECT_EQ(outline(import.processes[0]), "{ 30 } 40");
}

TEST(StraceProcess, ThreadsShareTheirProcessesMemory) {
  for (const std::string_view clone :
       {"1 clone3({flags=CLONE_VM|CLONE_THREAD, stack_size=0x7fff80} => {parent_tid=[2]}, 88) = 2\n",
        "1 clone(child_stack=0x7f0000, flags=CLONE_VM|CLONE_FS, parent_tid=[2]) = 2\n",
        "1 clone3({flags=0x3d0f00, exit_signal=0} => {parent_tid=[2]}, 88) = 2\n", "1 vfork() = 2\n",
        "1 clone(child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD) = 7 /* 2 in strace's PID NS */\n"}) {
    const StraceImport import = imported(map("1 ", "10") + std::string(clone) + map("2 ", "20") + map("1 ", "30"));
    EXPECT_EQ(outline(import.processes[0]), "10 20 30") << clone;
    EXPECT_EQ(import.processes[0].notes.size(), 1U) << import.processes[0].notes.back();
  }
}

TEST(StraceProcess, AFailedForkMakesNoChild) {
  const StraceImport import = imported(map("1 ", "10") + "1 fork() = -1 EAGAIN (Resource temporarily unavailable)\n");
  EXPECT_EQ(outline(import.processes[0]), "10");
}

TEST(StraceProcess, AnExecveBeginsAProgramOfItsOwn) {
  const StraceImport import =
      imported("1 execve(\"/usr/bin/sh\", [\"sh\"], 0x1 /* 4 vars */) = 0\n" + map("1 ", "10") + "1 fork() = 2\n" +
               map("2 ", "20") + "2 execve(\"/usr/bin/no\", [\"no\"], 0x1) = -1 ENOENT (No such file)\n" +
               "2 execve(\"/usr/bin/ls\", [\"ls\"], 0x1 /* 4 vars */) = 0\n" + map("2 ", "30") +
               "1 execve(\"/usr/bin/env\", [\"env\"], 0x1 /* 4 vars */) = 0\n" + map("1 ", "40"));
  ASSERT_EQ(import.processes.size(), 3U);
  EXPECT_EQ(import.processes[0].id, "1");
  EXPECT_EQ(import.processes[0].command, "/usr/bin/sh");
  EXPECT_EQ(outline(import.processes[0]), "10 { 20 }");
  EXPECT_EQ(import.processes[1].id, "2");
  EXPECT_EQ(import.processes[1].command, "/usr/bin/ls");
  EXPECT_EQ(import.processes[1].parent, "1");
  EXPECT_EQ(outline(import.processes[1]), "30");
  EXPECT_EQ(import.processes[2].id, "1.2");
  EXPECT_EQ(outline(import.processes[2]), "40");
  EXPECT_EQ(import.others(0), "the log holds 2 more processes: 2 (ls, 1 call), 1.2 (env, 1 call)");
  EXPECT_EQ(import.others(StraceImport::kNone),
            "the log holds 3 processes: 1 (sh, 2 calls), 2 (ls, 1 call), 1.2 (env, 1 call)");
}

TEST(StraceProcess, WithoutExecveLinesANewBreakBeginsAProgram) {
  const StraceImport import =
      imported("1 brk(NULL) = 0x1000000\n" + map("1 ", "10") + "2 brk(NULL) = 0x2000000\n" + map("2 ", "20") +
               "1 brk(NULL) = 0x1000000\n" + map("1 ", "30") + "2 brk(NULL) = 0x3000000\n" + map("2 ", "40"));
  ASSERT_EQ(import.processes.size(), 3U);
  EXPECT_EQ(outline(import.processes[0]), "10 30");
  EXPECT_EQ(outline(import.processes[1]), "20");
  EXPECT_EQ(outline(import.processes[2]), "40");
  EXPECT_EQ(import.processes[2].id, "2.2");
}

TEST(StraceProcess, APidOfUnknownOriginIsTakenAsAThreadAndTold) {
  const StraceImport import = imported(map("1 ", "10") + map("2 ", "20"));
  ASSERT_EQ(import.processes.size(), 1U);
  EXPECT_EQ(outline(import.processes[0]), "10 20");
  EXPECT_TRUE(has_note(import.processes[0].notes,
                       "1 pid taken as threads of the process that was last active: record with -e "
                       "trace=%memory,%process to know"));
}

TEST(StraceProcess, LinesWithoutAPidAreTheFirstProcesses) {
  const StraceImport import =
      imported(map("", "10") +
               "clone3({flags=CLONE_VM|CLONE_VFORK, stack_size=0x9000}, 88strace: Process 2 attached\n"
               " <unfinished ...>\n[pid     2] execve(\"/usr/bin/ls\", [\"ls\"], 0x1 <unfinished ...>\n"
               "[pid     1] <... clone3 resumed>)       = 2\n" +
               map("[pid     1] ", "20") + "[pid     2] <... execve resumed>)       = 0\n" + map("[pid     2] ", "30") +
               "[pid     2] +++ exited with 0 +++\n" + "--- SIGCHLD {si_signo=SIGCHLD} ---\n" + map("", "40") +
               "+++ exited with 0 +++\n");
  ASSERT_EQ(import.processes.size(), 2U);
  EXPECT_EQ(import.processes[0].id, "1");
  EXPECT_EQ(outline(import.processes[0]), "10 20 40");
  EXPECT_EQ(outline(import.processes[1]), "30");
}

TEST(StraceProcess, OnceAllOthersAreGoneLinesWithoutAPidAreTheLastOnes) {
  const StraceImport import =
      imported(map("", "10") + "fork() = 2\nstrace: Process 2 attached\n" + map("[pid 2] ", "20") +
               "[pid 1] exit_group(0) = ?\n[pid 1] +++ exited with 0 +++\n" + map("", "30"));
  EXPECT_EQ(outline(import.processes[0]), "10 { 20 30 }");
}

TEST(StraceProcess, MemoryIsGivenBackWhereACallBeginsAndTakenWhereItEnds) {
  const StraceImport import =
      imported(map("1 ", "10") +
               "1 munmap(0x10000, 4096 <unfinished ...>\n"
               "2 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0 <unfinished ...>\n" +
               map("3 ", "20") + "2 <... mmap resumed>) = 0x10000\n1 <... munmap resumed>) = 0\n");
  EXPECT_EQ(outline(import.processes[0]), "10 -10 20 10");
}

TEST(StraceProcess, ACommandOfOddBytesIsNamedInTextThatAProgramMayHold) {
  for (const std::string command : {"/bin/a\x7f", "/bin/\xc3", "/bin/a ", "/bin/a\t", "a\tb"}) {
    const StraceImport import = imported("execve(\"" + command + "\", [\"a\"], 0x1) = 0\n" + map("", "10"));
    const std::string printed = print(import.processes[0].program);
    const auto again = parse(printed, "printed.fl");
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(print(*again), printed);
    EXPECT_EQ(again->answers, import.processes[0].program.answers);
  }
}

TEST(StraceProcess, AReusedPidIsANewProcess) {
  const StraceImport import =
      imported(map("1 ", "10") + "1 fork() = 2\n" + map("2 ", "20") + "2 +++ exited with 0 +++\n" + "1 fork() = 2\n" +
               map("2 ", "20") + "2 +++ exited with 0 +++\n");
  EXPECT_EQ(outline(import.processes[0]), "10 { 20 } { 20 }");
}

TEST(StraceProcess, ForksNestAsDeepAsProgramsMayAndWhatIsBelowIsCounted) {
  std::string log = map("1 ", "10");
  for (int pid = 1; pid < 150; ++pid) {
    log += std::to_string(pid) + " fork() = " + std::to_string(pid + 1) + "\n";
    log += map(std::to_string(pid + 1) + " ", "20");
  }
  const StraceImport import = imported(log);
  EXPECT_EQ(import.processes[0].calls, 100U);
  EXPECT_TRUE(
      has_note(import.processes[0].notes, "50 calls skipped, of processes that too many forks in each other led to"));
}

}  // namespace
}  // namespace faultline::program
