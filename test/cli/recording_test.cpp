// `faultline record` and `faultline report`, as a person calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.h"
#include "machine/vm/subprocess.h"
#include "record/recorder.h"

namespace faultline::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Report : public testing::Test {
 protected:
  static std::string recording(const std::string& name) { return std::string(FAULTLINE_RECORDINGS) + "/" + name; }

  std::string printed(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    const Outcome outcome = folder_.run(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }
  /// What is said of a command line that asks for nonsense.
  std::string refused(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    const Outcome outcome = folder_.run(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }

  Folder folder_;
};

TEST_F(Report, SumsUpWhatWasRecorded) {
  const std::string text = printed({recording("true.rec")});
  EXPECT_THAT(text, HasSubstr(" recorded results hold\n"));
  EXPECT_THAT(text, HasSubstr("\ncall "));
  EXPECT_THAT(text, HasSubstr("\naccess "));
  EXPECT_THAT(text, HasSubstr("\nVMAs "));
}

TEST_F(Report, AnswersEachQuestionInEachForm) {
  for (const std::string question :
       {"calls", "faults", "vmas", "mappings", "merges", "protections", "policies", "seals", "dirty"}) {
    SCOPED_TRACE(question);
    EXPECT_THAT(printed({recording("true.rec"), "--what", question}), HasSubstr(" recorded results hold\n\n"));
    const std::string csv = printed({recording("true.rec"), "--what", question, "--format", "csv"});
    EXPECT_THAT(csv, StartsWith("program,process,machine,"));
    const auto json = nlohmann::json::parse(printed({recording("true.rec"), "--what", question, "--format", "json"}));
    EXPECT_TRUE(json.contains(question == "protections" ? "protection_changes" : question));
  }
}

TEST_F(Report, EachPolicyIsNamedHoweverFewLinesAreWanted) {
  const std::string text = printed({recording("true.rec"), "--what", "policies", "--top", "1", "--map-limit", "9"});
  for (const char* policy : {"\nnone ", "\nsealed ", "\nMDWE ", "\nW^X ", "\nexec-only ", "\nlimit 9 ", "\nguards "}) {
    EXPECT_THAT(text, HasSubstr(policy));
  }
  EXPECT_THAT(text, HasSubstr("ENOMEM"));
}

TEST_F(Report, SeveralProcessesAreOneTable) {
  const std::string csv =
      printed({recording("pipe.rec"), recording("true.rec"), "--all", "--what", "protections", "--format", "csv"});
  std::size_t headings = 0;
  for (std::size_t at = csv.find("program,"); at != std::string::npos; at = csv.find("program,", at + 1)) ++headings;
  EXPECT_EQ(headings, 1U);
  for (const char* program : {"\n/usr/bin/dash,", "\n/usr/bin/cat,", "\n/usr/bin/true,"}) {
    EXPECT_THAT(csv, HasSubstr(program));
  }
  const std::string json = printed({recording("pipe.rec"), "--all", "--format", "json"});
  EXPECT_EQ(std::ranges::count(json, '\n'), 2);
}

TEST_F(Report, FoldedStacksAddUpToTheFaults) {
  const auto json = nlohmann::json::parse(printed({recording("true.rec"), "--json", "-"}));
  const std::string stacks = printed({recording("true.rec"), "--format", "folded"});
  std::uint64_t faults = 0;
  for (std::size_t at = 0; at < stacks.size();) {
    const std::size_t end = stacks.find('\n', at);
    const std::string line = stacks.substr(at, end - at);
    EXPECT_THAT(line, StartsWith("true;"));
    faults += std::stoull(line.substr(line.rfind(' ') + 1));
    at = end + 1;
  }
  EXPECT_EQ(faults, json["counted"]["minor_faults"].get<std::uint64_t>());
}

TEST_F(Report, CallgrindIsWhatItsOwnToolReads) {
  const std::string tool = machine::vm::find_program("callgrind_annotate");
  if (tool.empty()) GTEST_SKIP() << "callgrind_annotate (valgrind) is not installed";
  const auto json = nlohmann::json::parse(printed({recording("true.rec"), "--json", "-"}));
  for (const std::string weight : {"faults", "ptes", "flushes"}) {
    const std::string file = folder_.path("callgrind.out." + weight);
    printed({recording("true.rec"), "--format", "callgrind", "--weight", weight, "-o", file});
    const auto read = machine::vm::run_command({tool, "--auto=no", file});
    ASSERT_TRUE(read.has_value()) << read.error();
    EXPECT_EQ(read->status, 0) << read->errors;
    EXPECT_EQ(read->errors, "");
    EXPECT_THAT(read->output, HasSubstr("PROGRAM TOTALS"));
    if (weight != "faults") continue;
    EXPECT_THAT(read->output,
                HasSubstr("\n" + std::to_string(json["counted"]["minor_faults"].get<int>()) + " (100.0%)"));
  }
}

TEST_F(Report, NonsenseIsRefused) {
  const std::string good = recording("true.rec");
  EXPECT_THAT(refused({}), HasSubstr("RECORDING"));
  EXPECT_THAT(refused({folder_.path("none.rec")}), HasSubstr("No such file"));
  EXPECT_THAT(refused({folder_.file("text.rec", "store(0, 1)\n")}), HasSubstr("no recording: expected one that"));
  EXPECT_THAT(refused({folder_.file("cut.rec", read_file(good).substr(0, 100))}), HasSubstr("frame 1: cut off"));
  EXPECT_THAT(refused({good + ":99"}), HasSubstr("no process 99"));
  EXPECT_THAT(refused({good, "--on", "model:2.4"}), HasSubstr("2.4"));
  EXPECT_THAT(refused({good, "--on", "live"}), HasSubstr("live"));
  EXPECT_THAT(refused({good, "--what", "colours"}), HasSubstr("--what"));
  EXPECT_THAT(refused({good, "--format", "xml"}), HasSubstr("--format"));
  EXPECT_THAT(refused({good, "--format", "csv"}), HasSubstr("expected one --what"));
  EXPECT_THAT(refused({good, "--format", "csv", "--what", "vmas", "--what", "calls"}),
              HasSubstr("expected one --what"));
  EXPECT_THAT(refused({good, "--format", "folded", "--what", "vmas"}), HasSubstr("expected no --what"));
  EXPECT_THAT(refused({good, good, "--format", "callgrind"}), HasSubstr("expected one RECORDING"));
  EXPECT_THAT(refused({good, "--weight", "gold"}), HasSubstr("--weight"));
  EXPECT_THAT(refused({good, "--json", "-", "--format", "text"}), HasSubstr("--json"));
  EXPECT_THAT(refused({good, "--map-limit", "0"}), HasSubstr("--map-limit"));
  EXPECT_THAT(refused({good, "--sealed-after", "soon"}), HasSubstr("--sealed-after"));
  EXPECT_THAT(refused({good, "-o", folder_.path("no/such/folder")}), HasSubstr("cannot write"));
}

TEST_F(Report, NothingIsWrittenWhenOneOfSeveralRecordingsIsDamaged) {
  const std::string output = folder_.path("out.json");
  refused({recording("true.rec"), folder_.file("cut.rec", "FLREC"), "--format", "json", "-o", output});
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(Report, ReadsStandardInput) {
  const auto piped = machine::vm::run_command(
      {"/bin/sh", "-c",
       "cat " + recording("true.rec") + " | " + FAULTLINE_COMMAND + " report - --what calls --format csv"});
  ASSERT_TRUE(piped.has_value()) << piped.error();
  EXPECT_EQ(piped->status, 0) << piped->errors;
  EXPECT_EQ(piped->output, printed({recording("true.rec"), "--what", "calls", "--format", "csv"}));
}

TEST_F(Report, SaysWhenItsOutputCannotBeWritten) {
  const auto full = machine::vm::run_command(
      {"/bin/sh", "-c", std::string(FAULTLINE_COMMAND) + " report " + recording("true.rec") + " > /dev/full"});
  ASSERT_TRUE(full.has_value()) << full.error();
  EXPECT_EQ(full->status, 2);
  EXPECT_THAT(full->errors, HasSubstr("standard output"));
}

class Record : public Report {
 protected:
  void SetUp() override {
    if (const auto able = record::can_record("/bin/true"); !able) GTEST_SKIP() << able.error();
  }
};

TEST_F(Record, WritesARecordingAndSumsItUp) {
  const std::string file = folder_.path("true.rec");
  const Outcome outcome = folder_.run({"record", "-o", file, "--", "/bin/true"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("/bin/true ended with status 0"));
  // What the summary says is what a report says.
  EXPECT_EQ(outcome.out, printed({file}));
}

TEST_F(Record, HoldsTheKernelsCountOnRequest) {
  const std::string file = folder_.path("true.rec");
  const Outcome outcome = folder_.run({"record", "-o", file, "--native", "--", "/bin/true"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nwithout QEMU: "));
  const auto json = nlohmann::json::parse(printed({file, "--json", "-"}));
  const double native = json["native"]["minor_faults"].get<double>() + json["native"]["major_faults"].get<double>();
  EXPECT_NEAR(json["native"]["model_faults"].get<double>(), native, 0.1 * native);
}

TEST_F(Record, TheCommandsStatusIsNotItsOwn) {
  const Outcome outcome = folder_.run({"record", "-o", folder_.path("false.rec"), "--", "/bin/false"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("ended with status 1"));
}

TEST_F(Record, ACommandInAPipeKeepsItsInputAndOutput) {
  const std::string file = folder_.path("cat.rec");
  const auto piped =
      machine::vm::run_command({"/bin/sh", "-c",
                                "echo through | " + std::string(FAULTLINE_COMMAND) + " record -o " + file + " --json " +
                                    folder_.path("cat.json").string() + " -- /bin/cat"});
  ASSERT_TRUE(piped.has_value()) << piped.error();
  EXPECT_EQ(piped->status, 0) << piped->errors;
  EXPECT_EQ(piped->output, "through\n");
}

TEST_F(Record, WhatCannotBeRecordedLeavesNoFile) {
  const std::string file = folder_.path("none.rec");
  const Outcome missing = folder_.run({"record", "-o", file, "--", "/no/such/program"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("/no/such/program"));
  const Outcome text = folder_.run({"record", "-o", file, "--", folder_.file("data", "\1\2")});
  EXPECT_EQ(text.status, 2);
  EXPECT_FALSE(std::filesystem::exists(file));
  const Outcome nothing = folder_.run({"record"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("COMMAND"));
}

}  // namespace
}  // namespace faultline::cli
