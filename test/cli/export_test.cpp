// What `faultline export` writes, compiled by the system's compiler and run on this machine's kernel. Skipped without a
// compiler, and where programs are recorded without QEMU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "check/as_built.h"
#include "command.h"
#include "machine/vm/subprocess.h"
#include "program/machine_pattern.h"

namespace faultline::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The newest model that is no newer than this kernel, as this kernel is built.
std::string model_of_this_kernel() {
  utsname name{};
  uname(&name);
  std::string preset = "5.10";
  for (const char* version : {"6.1", "6.8", "6.12", "6.18", "7.3"}) {
    if (program::version_at_least(name.release, version)) preset = version;
  }
  return "model:" + check::as_built(*mm::parse_profile(preset), **machine::make_machine("live")).name;
}

class Export : public testing::Test {
 protected:
  void SetUp() override {
    if (machine::vm::find_program("cc").empty()) GTEST_SKIP() << "no cc";
  }

  /// Exports, compiles without a warning, and runs.
  Outcome reproduce(std::vector<std::string> arguments) {
    const std::string source = folder_.path("reproducer.c");
    const std::string binary = folder_.path("reproducer");
    arguments.insert(arguments.begin(), {"export", "--c", "-o", source});
    const Outcome exported = folder_.run(arguments);
    EXPECT_EQ(exported.status, 0) << exported.err;
    notes_ = exported.err;
    const auto compiled = machine::vm::run_command({"cc", "-O2", "-Wall", "-Wextra", "-pthread", "-o", binary, source});
    EXPECT_TRUE(compiled.has_value());
    EXPECT_EQ(compiled->errors, "") << read_file(source);
    if (compiled->status != 0) return {};
    const auto ran = machine::vm::run_command({binary});
    if (!ran) return {-1, "", ran.error()};
    return {ran->status, ran->output, ran->errors};
  }

  void expect_the_models_figures(std::vector<std::string> arguments) {
    const std::string model = model_of_this_kernel();
    arguments.insert(arguments.end(), {"--on", model});
    const Outcome outcome = reproduce(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("faults and VMAs as " + model + " has them\n"));
    EXPECT_THAT(outcome.out, HasSubstr("all results held\n"));
  }

  Folder folder_;
  std::string notes_;
};

std::string ready_made(const std::string& name) { return std::string(FAULTLINE_PROGRAMS) + "/" + name + ".fl"; }

class ReadyMade : public Export, public testing::WithParamInterface<const char*> {};

TEST_P(ReadyMade, DoesInCWhatItDoesOnTheModel) { expect_the_models_figures({ready_made(GetParam())}); }

INSTANTIATE_TEST_SUITE_P(Programs, ReadyMade,
                         testing::Values("mprotect-cycle", "fork-and-copy", "read-fault-threads", "execute-only",
                                         "shared-memory", "cases/guards", "cases/kernel-writes",
                                         "cases/split-and-merge"),
                         [](const auto& program) {
                           std::string name = program.param;
                           std::erase_if(name, [](char c) { return c == '-' || c == '/'; });
                           return name;
                         });

TEST_F(Export, SaysWhichOperationsAnotherKernelCountsOtherwise) {
  if (model_of_this_kernel() == "model:5.10") GTEST_SKIP() << "this kernel is the older one";
  const Outcome outcome = reproduce({ready_made("mprotect-cycle"), "--on", "model:5.10"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::ContainsRegex("store\\(a, size\\) +1000 +0 +1 +32000 +1  differs"));
  EXPECT_THAT(outcome.out, HasSubstr("operations with other figures than model:5.10 has: 1\n"));
}

TEST_F(Export, AResultThatDoesNotHoldIsSaidWithItsLine) {
  const std::string program = folder_.file("wrong.fl", R"(
a = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
munmap(a + 1, PAGE) = 0
store(a) = 0
expect resident(a, PAGE) == 7
store(a)
)");
  const Outcome outcome = reproduce({program});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(
      outcome.err,
      HasSubstr("line 3: munmap(a + 1, PAGE) = 0: returned 0xffffffffffffffea, Invalid argument, expected 0x0"));
  EXPECT_THAT(outcome.err, HasSubstr("line 4: store(a) = 0: Segmentation fault"));
  EXPECT_THAT(outcome.err, HasSubstr("line 5: expect resident(a, PAGE) == 7: found 0, expected 7"));
  EXPECT_THAT(outcome.err, HasSubstr("line 6: store(a): ended by Segmentation fault"));
}

TEST_F(Export, NamesAndExpressionsMeanTheSameInC) {
  const std::string program = folder_.file("words.fl", R"(
param int = 3
let count = int * 2 - -1
let page = 1
let errno = ~0 >> 60 | PROT_READ
mmap = mmap(NULL, count * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
for i in 0..count { let page = i; store(mmap + page * PAGE, 1, 1, i << page) }
threads 2 { load(mmap + thread * PAGE) }
expect resident(mmap, count * PAGE) == 7 && errno == 15
expect value(mmap + 3 * PAGE) == 24 && 1 << int << 62 == 0 && page == 1
expect count / int == 2 && (-1) % 10 == 5 && !int == 0 && (int != 3 || perm(mmap) == (PROT_READ|PROT_WRITE))
expect perm(0) == UNMAPPED && -ENOMEM > 10
)");
  expect_the_models_figures({program});
}

TEST_F(Export, ASliceHasWhatItNeedsAndNoMore) {
  const std::string program = folder_.file("slice.fl", R"(
other = mmap(NULL, 64 * PAGE, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
a = mmap(NULL, 8 * PAGE, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
load(other, 64 * PAGE)
store(a, 8 * PAGE)
child { store(a, 4 * PAGE) }
load(other, 64 * PAGE)
store(a, 8 * PAGE)
)");
  const Outcome slice = folder_.run({"export", program, "--slice", "line=8", "--on", "model:6.18"});
  EXPECT_EQ(slice.status, 0) << slice.err;
  EXPECT_EQ(slice.out, "# " + program + R"(, line=8, on model:6.18
mmap(0x10fff7fb7000, 32768, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE, -1, 0) = 0x10fff7fb7000
store(0x10fff7fb7000, 32768) = 0
child {
}
measure "slice" {
    store(0x10fff7fb7000, 32768) = 0
}
expect minflt("slice") == 8
expect vmas(0x10fff7fb7000, 32768) == 1
)");
  expect_the_models_figures({program, "--slice", "line=8"});
}

TEST_F(Export, WhatIsNoSliceIsRefusedBeforeAnythingIsWritten) {
  const std::string program = ready_made("mprotect-cycle");
  for (const char* slice :
       {"5-2", "x", "line=", "line=1-2", "range=5", "range=0x2000-0x1000", "site=", "kind=3", "0x-3"}) {
    const Outcome outcome = folder_.run({"export", program, "--slice", slice, "-o", folder_.path("none")});
    EXPECT_EQ(outcome.status, 2) << slice;
    EXPECT_THAT(outcome.err, HasSubstr("expected steps, such as 120-180")) << slice;
  }
  const Outcome outside = folder_.run({"export", program, "--slice", "90000-90001", "-o", folder_.path("none")});
  EXPECT_EQ(outside.status, 2);
  EXPECT_THAT(outside.err, HasSubstr("no operation is in the slice: the program executed"));
  const Outcome placeless = folder_.run({"export", program, "--slice", "site=main", "-o", folder_.path("none")});
  EXPECT_EQ(placeless.status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("none")));
}

struct RecordedSlice {
  const char* name;
  std::vector<std::string> command;
  std::vector<std::string> slice;
};

class RecordedSlices : public Export, public testing::WithParamInterface<RecordedSlice> {};

TEST_P(RecordedSlices, ShowNativelyWhatTheModelSays) {
  const RecordedSlice& wanted = GetParam();
  if (access(wanted.command.front().c_str(), X_OK) != 0) GTEST_SKIP() << "no " << wanted.command.front();
  const std::string recording = folder_.path("recording");
  std::vector<std::string> record{"record", "-o", recording, "--"};
  record.insert(record.end(), wanted.command.begin(), wanted.command.end());
  const Outcome recorded = folder_.run(record);
  if (recorded.status == 2) GTEST_SKIP() << recorded.err;
  std::vector<std::string> arguments{recording};
  for (const std::string& choice : wanted.slice) arguments.insert(arguments.end(), {"--slice", choice});
  expect_the_models_figures(arguments);
  EXPECT_THAT(notes_, Not(HasSubstr("have other figures here"))) << notes_;
}

INSTANTIATE_TEST_SUITE_P(
    OfPrograms, RecordedSlices,
    testing::Values(RecordedSlice{"Python", {"/usr/bin/python3", "-S", "-c", "print(1)"}, {"600-700"}},
                    RecordedSlice{"Bash", {"/bin/bash", "-c", "ls / | wc -l"}, {"range=0x4000000000-0x4000200000"}},
                    RecordedSlice{"Git", {"/usr/bin/git", "--version"}, {"site=mmap", "1-400"}},
                    RecordedSlice{
                        "Perl", {"/usr/bin/perl", "-e", "my @a = (1) x 100000;"}, {"site=Perl_safesysmalloc"}},
                    RecordedSlice{"Gcc", {"/usr/bin/gcc", "--version"}, {"100-200"}}),
    [](const auto& slice) { return slice.param.name; });

}  // namespace
}  // namespace faultline::cli
