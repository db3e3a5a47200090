// Bad input of every kind: exit status 2 and an error that says where and what was expected, or a correct run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace faultline::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Misuse : public testing::Test {
 protected:
  // Runs a program of this text on a model; checks that it is refused at `place` ("2:9") with the line shown.
  std::string refused(std::string_view text, const std::string& place) {
    const std::string path = folder_.file("bad.fl", text);
    const Outcome outcome = folder_.run({"run", path, "--on", "model:6.12"});
    EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith(path + ":" + place + ": error: "));
    EXPECT_THAT(outcome.err, HasSubstr("^"));
    return outcome.err;
  }

  std::string error(const std::vector<std::string>& arguments) {
    const Outcome outcome = folder_.run(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }

  Folder folder_;
  std::string good_ = folder_.file("good.fl", "param n = 1\n");
};

TEST_F(Misuse, UnknownCall) {
  EXPECT_THAT(refused("getppid()\nmprotekt(1, 2, 3)\n", "2:1"), HasSubstr("mprotekt(1, 2, 3)"));
}

TEST_F(Misuse, WrongFlag) { EXPECT_THAT(refused("mprotect(4096, PAGE, PROT_RAED)\n", "1:22"), HasSubstr("PROT_RAED")); }

TEST_F(Misuse, MissingBrace) {
  const std::string path = folder_.file("bad.fl", "repeat 2 {\n    getppid()\n");
  const Outcome outcome = folder_.run({"run", path, "--on", "model:6.12"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("}"));
  EXPECT_THAT(outcome.err, StartsWith(path + ":"));
}

TEST_F(Misuse, DivisionByZeroInLet) {
  EXPECT_THAT(refused("let zero = 0\nlet x = 1 / zero\n", "2:11"), HasSubstr("zero"));
}

TEST_F(Misuse, LengthOfTwoToThe63IsACorrectRun) {
  const std::string path = folder_.file("huge.fl",
                                        "mmap(NULL, 1 << 63, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = -1 ENOMEM\n"
                                        "mprotect(4096, 1 << 63, PROT_READ) = -1 ENOMEM\n");
  const Outcome outcome = folder_.run({"run", path, "--on", "model:6.12", "--on", "live"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 expectations held on both\n"));
}

TEST_F(Misuse, AccessOfLengthTwoToThe63EndsInTheSignal) {
  const std::string path = folder_.file("huge.fl", "store(PAGE, 1 << 63)\n");
  EXPECT_EQ(folder_.run({"run", path, "--on", "model:6.12"}).status, 1);
}

TEST_F(Misuse, EmptyFileIsAProgramThatDoesNothing) {
  const std::string path = folder_.file("empty.fl", "");
  const Outcome outcome = folder_.run({"run", path, "--on", "model:6.12"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, path + "\n");
}

TEST_F(Misuse, BinaryFile) {
  std::string bytes =
      "\x7f"
      "ELF";
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>(i * 37);
  const std::string message = refused(bytes, "1:1");
  for (const char byte : message) EXPECT_TRUE(byte == '\n' || static_cast<unsigned char>(byte) >= 0x20);
}

TEST_F(Misuse, AMillionLinesRun) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "getppid()\n";
  const std::string path = folder_.file("long.fl", text);
  const Outcome outcome = folder_.run({"run", path, "--on", "model:6.12"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\n1000000   getppid()   ~"));
}

TEST_F(Misuse, AMillionLinesWithAnErrorInTheLast) {
  std::string text;
  for (int i = 0; i < 999'999; ++i) text += "getppid()\n";
  refused(text + "getppid(", "1000000:9");
}

TEST_F(Misuse, FileThatCannotBeRead) {
  EXPECT_EQ(error({"run", folder_.path("none.fl").string()}),
            "faultline: cannot read " + folder_.path("none.fl").string() + ": No such file or directory\n");
}

TEST_F(Misuse, DirectoryAsProgram) {
  EXPECT_THAT(error({"run", folder_.path("").string()}), HasSubstr("it is a directory; expected a program"));
}

TEST_F(Misuse, NothingRunsWhenOneOfSeveralProgramsIsWrong) {
  const std::string bad = folder_.file("bad.fl", "nonsense(\n");
  EXPECT_THAT(error({"run", good_, bad, "--on", "model:6.12"}), StartsWith(bad + ":1:"));
}

TEST_F(Misuse, UnknownMachine) {
  EXPECT_THAT(error({"run", good_, "--on", "modl:6.12"}), StartsWith("faultline: --on modl:6.12: "));
  EXPECT_THAT(error({"run", good_, "--on", "model:6.12+upgrade=maybe"}), HasSubstr("exclusive"));
}

TEST_F(Misuse, UnknownParamNamesThoseThatThereAre) {
  EXPECT_EQ(error({"run", good_, "--on", "model:6.12", "--set", "m=1"}),
            "faultline: --set m: " + good_ + " has no param of that name; expected one of n\n");
}

TEST_F(Misuse, BadValueOfSet) {
  EXPECT_THAT(error({"run", good_, "--set", "n"}), HasSubstr("--set n: expected NAME=VALUE"));
  EXPECT_THAT(error({"run", good_, "--set", "n=1,,2"}), HasSubstr("--set n=1,,2: ''"));
  EXPECT_THAT(error({"run", good_, "--set", "n=many"}), HasSubstr("'many'"));
  EXPECT_THAT(error({"run", good_, "--set", "n=1", "--set", "n=2"}), HasSubstr("set twice"));
}

TEST_F(Misuse, UnknownOptionCommandOrNoCommand) {
  EXPECT_THAT(error({"run", good_, "--no-such-option"}), HasSubstr("--no-such-option"));
  EXPECT_FALSE(error({"no-such-command"}).empty());
  EXPECT_FALSE(error({}).empty());
  EXPECT_FALSE(error({"run"}).empty());
  EXPECT_THAT(error({"run", good_, "--time-limit", "-1"}), HasSubstr("--time-limit"));
  EXPECT_THAT(error({"run", good_, "--time-limit", "soon"}), HasSubstr("--time-limit"));
}

TEST_F(Misuse, OperationThatAMachineCannotDo) {
  const std::string path = folder_.file("prctl.fl", "prctl(PR_SET_THP_DISABLE, 1)\n");
  const Outcome outcome = folder_.run({"run", path, "--on", "model:6.12"});
  EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, StartsWith(path + ":1:1: error: model:6.12: cannot run this program"));
}

TEST_F(Misuse, AgentThatIsMissing) {
  setenv("FAULTLINE_AGENT", folder_.path("no-agent").c_str(), 1);
  const Outcome outcome = folder_.run({"run", good_, "--on", "live"});
  unsetenv("FAULTLINE_AGENT");
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("no-agent"));
}

TEST_F(Misuse, FormatOfABadProgram) {
  const std::string bad = folder_.file("bad.fl", "repeat {\n");
  EXPECT_THAT(error({"format", bad}), StartsWith(bad + ":1:"));
}

TEST_F(Misuse, CalibratingWhatDoesNotCountInstructions) {
  EXPECT_THAT(error({"calibrate", "--on", "live"}),
              HasSubstr("--on live: it does not count instructions; expected vm:KERNEL"));
  EXPECT_THAT(error({"calibrate", "--on", "model:6.12"}), HasSubstr("expected vm:KERNEL"));
  EXPECT_EQ(folder_.run({"calibrate"}).status, 2);
}

TEST_F(Misuse, CostsThatAreNoTable) {
  const auto costs = [&](const std::string& path) {
    return error({"run", good_, "--on", "model:6.12", "--costs", path});
  };
  EXPECT_THAT(costs(folder_.file("empty.json", "{}")),
              HasSubstr("empty.json is no table of costs: the document has no \"faultline_costs\""));
  EXPECT_THAT(costs(folder_.file("old.json", R"({"faultline_costs":0})")), HasSubstr("it is of version 0, expected 1"));
  EXPECT_THAT(costs(folder_.file("half.json", R"({"faultline_costs":1,)")), HasSubstr("not JSON: at byte"));
  EXPECT_THAT(costs(folder_.path("absent.json")), HasSubstr("cannot read "));
  EXPECT_THAT(costs(folder_.path("")), HasSubstr("it is a directory"));
}

}  // namespace
}  // namespace faultline::cli
