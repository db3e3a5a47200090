// The command as a person meets it: output, files, exit statuses.
#include "command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

namespace faultline::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kCycle = R"(# Does a store fault after a protection round trip?
param pages = 4
let size = pages * PAGE
a = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
store(a, size)
measure "cycle" repeat 10 {
    mprotect(a, size, PROT_NONE) = 0
    mprotect(a, size, PROT_READ|PROT_WRITE) = 0
    store(a, size)
}
expect vmas(a, size) == 1
expect faults("cycle") == pages on model:5.10
expect faults("cycle") == 0 on model:>=6.1
)";

class Command : public testing::Test {
 protected:
  Folder folder_;
  std::string cycle_ = folder_.file("cycle.fl", kCycle);
};

TEST_F(Command, RunsAProgramOnTwoModelsSideBySide) {
  const Outcome outcome = folder_.run({"run", cycle_, "--on", "model:5.10", "--on", "model:6.12"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, StartsWith(cycle_ + " · pages=4 · ~instructions, predicted from counts: ±"));
  EXPECT_THAT(outcome.out, HasSubstr("Does a store fault after a protection round trip?\n"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("faults, as exceptions +4 +0\n"));
  EXPECT_THAT(outcome.out, HasSubstr("writable after line 8: 0 of 4 on model:5.10, 4 of 4 on model:6.12\n"));
}

TEST_F(Command, GivesTheSameOutputEveryTime) {
  const std::vector<std::string> arguments{"run", cycle_, "--on", "model:6.12", "--counters"};
  EXPECT_EQ(folder_.run(arguments).out, folder_.run(arguments).out);
}

TEST_F(Command, RunsOnAModelAndLiveWhenNoMachineIsNamed) {
  const Outcome outcome = folder_.run({"run", cycle_});
  EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, testing::ContainsRegex("operation +model:[^ ]+ +live\n"));
  EXPECT_THAT(outcome.out, HasSubstr("live is Linux "));
  EXPECT_THAT(outcome.out, HasSubstr(" ns"));
}

TEST_F(Command, SweepsEveryCombinationOfValues) {
  const std::string program = folder_.file("two.fl", "param a = 1\nparam b = 1\nlet c = a * b\n");
  const Outcome outcome = folder_.run({"run", program, "--on", "model:6.12", "--set", "a=1,2K", "--set", "b=3,4"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string title = program + " · ";
  EXPECT_EQ(outcome.out,
            title + "a=1 · b=3\n\n" + title + "a=1 · b=4\n\n" + title + "a=2K · b=3\n\n" + title + "a=2K · b=4\n");
}

TEST_F(Command, SetsAParamForTheMachineToo) {
  const Outcome outcome = folder_.run({"run", cycle_, "--on", "model:5.10", "--set", "pages=7"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::ContainsRegex("faults, first touch by a write +7\n"));
}

TEST_F(Command, ExitsWith1AndShowsTheLineOfAnExpectationThatFails) {
  const std::string program = folder_.file("wrong.fl", "expect 1 == 2\nexpect 1 == 1\n");
  const Outcome outcome = folder_.run({"run", program, "--on", "model:6.12"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("line 1 FAILED on model:6.12: "));
  EXPECT_THAT(outcome.out, HasSubstr("1 expectation held, 1 failed\n"));
}

TEST_F(Command, ExitsWith1AndNamesTheSignalThatKilledTheProgram) {
  const std::string program = folder_.file("killed.fl", "load(4096)\n");
  const Outcome outcome = folder_.run({"run", program, "--on", "model:6.12", "--on", "live"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("model:6.12: killed by SIGSEGV SEGV_MAPERR at 0x1000 at line 1"));
  EXPECT_THAT(outcome.out, HasSubstr("live: killed by SIGSEGV SEGV_MAPERR at 0x1000 at line 1"));
}

TEST_F(Command, ExitsWith1WhenTheTimeLimitPasses) {
  const std::string program = folder_.file("long.fl", "repeat 1000000000000 { getppid() }\n");
  const Outcome outcome = folder_.run({"run", program, "--on", "model:6.12", "--time-limit", "0.2"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("model:6.12: stopped by the time limit at line 1"));
}

TEST_F(Command, WritesJsonBesideAndThenInItsPlace) {
  const std::string path = folder_.file("result.json", "old");
  chmod(path.c_str(), 0600);
  const Outcome outcome = folder_.run({"run", cycle_, "--on", "model:6.12", "--set", "pages=1,2", "--json", path});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(read_file(path));
  ASSERT_EQ(document["faultline"]["runs"].size(), 2u);
  EXPECT_EQ(document["faultline"]["runs"][1]["params"]["pages"], 2);
  EXPECT_THAT(std::string(document["context"]["executable"]), HasSubstr("--set pages=1,2"));
  EXPECT_THAT(outcome.out, HasSubstr("predicted from counts")) << "the table is printed too";
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path(""))) {
    EXPECT_THAT(entry.path().filename().string(), Not(StartsWith("result.json."))) << "left behind";
  }
}

TEST_F(Command, WritesNothingButJsonToStandardOutputWhenAsked) {
  const Outcome outcome = folder_.run({"run", cycle_, "--on", "model:6.12", "--json", "-"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["faultline"]["runs"][0]["machine"], "model:6.12");
}

TEST_F(Command, ExitsWith2WhenTheJsonCannotBeWritten) {
  const Outcome outcome = folder_.run({"run", cycle_, "--on", "model:6.12", "--json", folder_.path("no/such/place")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write"));
  EXPECT_THAT(outcome.err, HasSubstr("No such file or directory"));
}

TEST_F(Command, ColoursOnlyOnATerminalAndNotWithNoColor) {
  const std::vector<std::string> arguments{"run", cycle_, "--on", "model:6.12"};
  EXPECT_THAT(folder_.run(arguments).out, Not(HasSubstr("\033[")));
  EXPECT_THAT(folder_.run_on_terminal(arguments).out, HasSubstr("\033[1m"));
  EXPECT_THAT(folder_.run_on_terminal(arguments, "NO_COLOR=1").out, Not(HasSubstr("\033[1m")));
}

TEST_F(Command, PrintsWhatItHadWhenInterrupted) {
  const std::string endless = folder_.file("endless.fl", "repeat 1000000000000 { getppid() }\n");
  const std::string path = folder_.path("partial.json");
  const Outcome outcome = folder_.interrupt({"run", cycle_, endless, "--on", "model:6.12", "--json", path}, 5000);
  EXPECT_EQ(outcome.status, 130);
  EXPECT_THAT(outcome.out, HasSubstr(cycle_ + " · pages=4"));
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  EXPECT_EQ(json::parse(read_file(path))["faultline"]["runs"][0]["program"], cycle_);
}

TEST_F(Command, PrintsThePartOfAnInterruptedRunOnTheModelAndLive) {
  const std::string endless = folder_.file("endless.fl", "brk(0)\nrepeat 1000000000000 { getppid() }\n");
  for (const char* machine : {"model:6.12", "live"}) {
    const std::string path = folder_.path(std::string(machine) + ".json");
    Outcome outcome;
    // A busy machine may be interrupted before it has come to line 2.
    for (unsigned milliseconds = 1000; milliseconds <= 16'000 && !outcome.out.contains("at line 2");
         milliseconds *= 4) {
      outcome = folder_.interrupt({"run", endless, "--on", machine, "--json", path}, milliseconds);
    }
    EXPECT_EQ(outcome.status, 130) << machine;
    EXPECT_THAT(outcome.out, HasSubstr(std::string(machine) + ": interrupted at line 2"));
    const json run = json::parse(read_file(path))["faultline"]["runs"][0];
    EXPECT_EQ(run["ending"]["how"], "interrupted");
    EXPECT_GT(run["rows"][1]["calls"], 0) << machine;
  }
}

TEST_F(Command, DrawsTheVmasAroundEachStepBeforeAndAfterIt) {
  const std::string program = folder_.file("draw.fl",
                                           "a = mmap(0x100000, 6 * PAGE, PROT_READ|PROT_WRITE, "
                                           "MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED, -1, 0)\n"
                                           "mprotect(a + 2 * PAGE, 2 * PAGE, PROT_READ)\n"
                                           "mprotect(a + 2 * PAGE, 2 * PAGE, PROT_READ|PROT_WRITE)\n");
  const Outcome outcome = folder_.run({"explain", program, "--on", "model:6.18", "--vmas"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("before   AAAAAA\n"));
  EXPECT_THAT(outcome.out, HasSubstr("range      **\n"));
  EXPECT_THAT(outcome.out, HasSubstr("after    AABBCC\n"));
  EXPECT_THAT(outcome.out, HasSubstr("before   AABBCC\n"));
  EXPECT_THAT(outcome.out, HasSubstr("after    AAAAAA\n"));
  EXPECT_THAT(outcome.out, HasSubstr("not merged with A: the flags differ: write"));
}

TEST_F(Command, SaysWhichEarlierStepMadeAPageFault) {
  const Outcome outcome = folder_.run({"explain", cycle_, "--on", "model:5.10", "--step", "2-5"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("why      the page was not touched since it was mapped by step 1 (line 4), a = mmap("));
  EXPECT_THAT(outcome.out,
              HasSubstr("why      the entry is read-only; last changed by step 4 (line 8), mprotect(a, size, "
                        "PROT_READ|PROT_WRITE) = 0: not upgraded: this kernel never"));
}

TEST_F(Command, SaysThatAForkOrADiscardMadeAPageFault) {
  const std::string program =
      folder_.file("why.fl",
                   "a = mmap(NULL, 2 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n"
                   "store(a, 2 * PAGE)\nchild {\n    store(a)\n}\nmadvise(a + PAGE, PAGE, MADV_DONTNEED)\n"
                   "load(a + PAGE)\nstore(a + PAGE)\nmprotect(a, PAGE, PROT_NONE)\nload(a) = SIGSEGV SEGV_ACCERR\n");
  const Outcome outcome = folder_.run({"explain", program, "--on", "model:6.18", "--step", "3-9"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("why      the entry is read-only for copy-on-write since the fork before step 3"));
  EXPECT_THAT(outcome.out, HasSubstr("why      the entry is empty; last changed by step 4 (line 6), madvise("));
  EXPECT_THAT(outcome.out,
              HasSubstr("why      the zero page is everybody's and never writable; last changed by step 5"));
  EXPECT_THAT(outcome.out,
              HasSubstr("why      the entry permits nothing, as PROT_NONE leaves it; last changed by step 7"));
}

TEST_F(Command, SaysThatAForkCopiedNoEntryOrThatAGuardStandsThere) {
  const std::string program =
      folder_.file("guard.fl",
                   "s = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0)\nstore(s)\n"
                   "child {\n    load(s)\n}\n"
                   "g = mmap(NULL, PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)\n"
                   "madvise(g, PAGE, MADV_GUARD_INSTALL) = 0\nload(g) = SIGSEGV SEGV_MAPERR\n");
  const Outcome outcome = folder_.run({"explain", program, "--on", "model:6.18"});
  EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("why      the fork before step 3 copied no entry here\n"));
  EXPECT_THAT(outcome.out, HasSubstr("why      a guard marker stands in the entry; last changed by step 5 (line 7)"));
}

TEST_F(Command, ExplainsTheStepsAskedFor) {
  const Outcome outcome = folder_.run({"explain", cycle_, "--on", "model:5.10", "--step", "4-5"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("   4  mprotect(a, size, PROT_READ|PROT_WRITE)"));
  EXPECT_THAT(outcome.out, HasSubstr("   5  store(a, size)   (line 9)\n"));
  EXPECT_THAT(outcome.out, HasSubstr("×4 pages"));
  EXPECT_THAT(outcome.out, HasSubstr("[A.6]"));
  EXPECT_THAT(outcome.out, HasSubstr("fault_copy 4"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("   6  ")));
}

TEST_F(Command, RefusesToExplainWhatItCannot) {
  const auto error = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"explain", cycle_});
    const Outcome outcome = folder_.run(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(error({"--on", "live"}), HasSubstr("only a model can explain itself"));
  EXPECT_THAT(error({"--on", "model:9.99"}), HasSubstr("--on model:9.99: "));
  EXPECT_THAT(error({"--step", "0"}), HasSubstr("--step 0: expected a step"));
  EXPECT_THAT(error({"--step", "5-4"}), HasSubstr("--step 5-4: expected a step"));
  EXPECT_THAT(error({"--step", "1000"}), HasSubstr("--step 1000: the program ended after 32 steps"));
  EXPECT_THAT(error({"--set", "pages=1,2"}), HasSubstr("of one run"));
}

TEST_F(Command, FormatsAProgramSoThatFormattingAgainChangesNothing) {
  const Outcome once = folder_.run({"format", cycle_});
  EXPECT_EQ(once.status, 0) << once.err;
  const Outcome twice = folder_.run({"format", folder_.file("formatted.fl", once.out)});
  EXPECT_EQ(once.out, twice.out);
  EXPECT_THAT(once.out, HasSubstr("measure \"cycle\" repeat 10 {"));
}

TEST_F(Command, ListsMachinesAndEveryPolicy) {
  const Outcome outcome = folder_.run({"machines"});
  EXPECT_EQ(outcome.status, 0);
  for (const char* name : {"model:5.10 ", "model:arm64/6.8 ", "model:7.3 ", "live is Linux "}) {
    EXPECT_THAT(outcome.out, HasSubstr(name));
  }
  EXPECT_THAT(outcome.out, HasSubstr("+upgrade=shared-dirty|page-count|exclusive-dirty|exclusive\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("?"))) << "a policy without a column";
}

TEST_F(Command, SaysItsVersionAndHelpsWithExamples) {
  const Outcome version = folder_.run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("faultline [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  for (const std::vector<std::string>& help :
       {std::vector<std::string>{"--help"}, {"run", "--help"}, {"explain", "--help"}}) {
    const Outcome outcome = folder_.run(help);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, HasSubstr("Examples:\n  faultline "));
  }
}

}  // namespace
}  // namespace faultline::cli
