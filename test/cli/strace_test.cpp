// Logs of strace in the place of programs, as a person meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace faultline::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kLog = R"(7157  execve("/usr/bin/sh", ["sh"], 0x7ffcd1b7fe40 /* 41 vars */) = 0
7157  mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0df22f5000
7157  mprotect(0x7f0df22f5000, 4096, PROT_NONE) = 0
7157  openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3
7157  vfork()                           = 7158
7158  execve("/usr/bin/ls", ["ls"], 0x7ffcd1b7fe40 /* 41 vars */) = 0
7158  munmap(0x10001, 4096)             = -1 EINVAL (Invalid argument)
7158  +++ exited with 0 +++
)";

class StraceCommand : public testing::Test {
 protected:
  Folder folder_;
  std::string log_ = folder_.file("sh.log", kLog);
};

TEST_F(StraceCommand, RunsTheFirstProcessAndSaysWhatItLeftOut) {
  const Outcome outcome = folder_.run({"run", log_, "--on", "model:6.18"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("What strace recorded of /usr/bin/sh, process 7157\n"));
  EXPECT_THAT(outcome.out, HasSubstr("2 expectations held\n"));
  EXPECT_THAT(outcome.out, HasSubstr("this log has no accesses: nothing is faulted in\n"));
  EXPECT_THAT(outcome.out, HasSubstr("1 call of 1 kind skipped: openat 1\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("the log holds 1 more process: 7158 (ls, 1 call); " + log_ + ":PID chooses one\n"));
}

TEST_F(StraceCommand, RunsTheProcessThatIsNamed) {
  const Outcome outcome = folder_.run({"run", log_ + ":7158", "--on", "model:6.18"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith(log_ + ":7158"));
  EXPECT_THAT(outcome.out, HasSubstr("What strace recorded of /usr/bin/ls, process 7158\n"));
  EXPECT_THAT(outcome.out, HasSubstr("1 expectation held\n"));
  EXPECT_THAT(outcome.out, HasSubstr("the log holds 1 more process: 7157 (sh, 2 calls)"));
}

TEST_F(StraceCommand, RefusesAProcessThatTheLogLacksAndNamesThoseThatItHas) {
  const Outcome outcome = folder_.run({"run", log_ + ":1", "--on", "model:6.18"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "faultline: " + log_ +
                             ": no process 1: the log holds 2 processes: 7157 (sh, 2 calls), 7158 (ls, 1 call)\n");
  const std::string program = folder_.file("a.fl", "getppid()\n");
  const Outcome no_log = folder_.run({"run", program + ":1", "--on", "model:6.18"});
  EXPECT_EQ(no_log.status, 2);
  EXPECT_THAT(no_log.err, HasSubstr("it is a program; expected a log of strace or a recording before ':PID'"));
}

TEST_F(StraceCommand, FailsAtTheLogsLineWhoseResultDoesNotHold) {
  const std::string wrong = folder_.file("wrong.log", "1 munmap(0x10000, 4096) = -1 EINVAL (Invalid argument)\n");
  const Outcome outcome = folder_.run({"run", wrong, "--on", "model:6.18"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("line 1 FAILED on model:6.18: munmap(0x10000, 4096) = -1 EINVAL"));
}

TEST_F(StraceCommand, ShowsTheLineThatCannotBeRead) {
  const std::string bad = folder_.file("bad.log", "1 brk(NULL) = 0x1000\n1 mprotect(0x1000, 4096, PROT_REED) = 0\n");
  const Outcome outcome = folder_.run({"run", bad, "--on", "model:6.18"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, StartsWith(bad + ":2:26: error: unknown constant 'PROT_REED': did you mean 'PROT_READ'?\n"));
  EXPECT_THAT(outcome.err, HasSubstr(" 2 | 1 mprotect(0x1000, 4096, PROT_REED) = 0\n"));
}

TEST_F(StraceCommand, ReadsAFileAsWhatItIsTold) {
  const std::string both = folder_.file("both", "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n");
  EXPECT_EQ(folder_.run({"format", both}).status, 0);
  const Outcome as_log = folder_.run({"format", both, "--from", "strace"});
  EXPECT_EQ(as_log.status, 2);
  EXPECT_THAT(as_log.err, HasSubstr("expected '=' and the call's result"));
  const Outcome as_program = folder_.run({"format", log_, "--from", "fl"});
  EXPECT_EQ(as_program.status, 2);
  EXPECT_THAT(as_program.err, StartsWith(log_ + ":1:1: error: "));
  EXPECT_EQ(folder_.run({"format", both, "--from", "c"}).status, 2);
}

TEST_F(StraceCommand, ReadsAFileAsAProgramWhoseNameSaysSo) {
  constexpr std::string_view kFixed =
      "mmap(0x200000000, 2 * PAGE, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED, -1, 0) ";
  const std::string text = std::string(kFixed) + "= 0x200000000\nload(0x200000000)\n";
  EXPECT_EQ(folder_.run({"run", folder_.file("fixed.fl", text), "--on", "model:6.18"}).status, 0);
  EXPECT_EQ(folder_.run({"run", folder_.file("fixed", text), "--on", "model:6.18"}).status, 2);
}

TEST_F(StraceCommand, FormatsALogIntoAProgramThatDoesTheSame) {
  const Outcome formatted = folder_.run({"format", log_});
  EXPECT_EQ(formatted.status, 0);
  EXPECT_THAT(formatted.err, HasSubstr("no accesses"));
  const std::string program = folder_.file("sh.fl", formatted.out);
  const Outcome outcome = folder_.run({"run", program, "--on", "model:6.18"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 expectations held\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("no accesses")));
}

TEST_F(StraceCommand, ExplainsTheStepsOfALog) {
  const Outcome outcome = folder_.run({"explain", log_, "--on", "model:6.18", "--step", "2"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("mprotect(0x7f0df22f5000, 4096, PROT_NONE) = 0   (line 3)"));
  EXPECT_THAT(outcome.out, HasSubstr("split"));
}

TEST_F(StraceCommand, JsonCarriesTheNotes) {
  const Outcome outcome = folder_.run({"run", log_, "--on", "model:6.18", "--json", "-"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json notes = json::parse(outcome.out)["faultline"]["runs"][0]["program_notes"];
  EXPECT_EQ(notes[0], "this log has no accesses: nothing is faulted in");
}

}  // namespace
}  // namespace faultline::cli
