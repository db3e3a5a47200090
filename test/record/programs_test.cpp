// Programs in C, recorded under QEMU's user mode and run on models. Skipped where QEMU or a compiler is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "harness.h"

namespace faultline::record {
namespace {

#define RECORDABLE(program) \
  if (!(program).why_not().empty()) GTEST_SKIP() << (program).why_not()

void expect_no_differences(const Import& import, const std::string& profile) {
  for (std::size_t i = 0; i < import.processes.size(); ++i) {
    const Studied studied = study(import, i, profile);
    EXPECT_EQ(studied.ending, run::Ending::completed) << import.processes[i].path;
    EXPECT_EQ(studied.differences, std::vector<std::string>{}) << import.processes[i].path;
  }
}

/// The kernel's own count for the program without QEMU, within 5%, or within 4 faults for each program that was
/// executed: there is no vDSO under QEMU, and where files are placed decides which of their pages lie in one window of
/// 64 KiB and are mapped by one fault.
void expect_native_faults(const CompiledProgram& program, const Import& import,
                          const std::vector<std::string>& arguments = {}) {
  std::uint64_t modelled = 0;
  for (std::size_t i = 0; i < import.processes.size(); ++i) modelled += study(import, i, "6.18").faults;
  const std::uint64_t native = program.native_faults(arguments);
  const double difference = std::abs(static_cast<double>(modelled) - static_cast<double>(native));
  const double placement = 4 * static_cast<double>(import.processes.size());
  EXPECT_LE(difference, std::max(placement, 0.05 * static_cast<double>(native)))
      << modelled << " on the model, " << native << " natively";
}

/// The line of a program that holds `text`, as "FUNCTION FILE:LINE".
std::string site(const std::string& function, const std::string& program, const std::string& text) {
  const std::string source = read_file(std::string(FAULTLINE_RECORDED_PROGRAMS) + "/" + program + ".c");
  const auto end = source.begin() + static_cast<std::ptrdiff_t>(source.find(text));
  return function + " " + program + ".c:" + std::to_string(1 + std::count(source.begin(), end, '\n'));
}

class MprotectLoop : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(MprotectLoop, Takes32WriteUpgradesInEachCycleUntilMprotectItselfMakesPagesWritable) {
  const CompiledProgram program("mprotect_loop", {"cc", GetParam()});
  RECORDABLE(program);
  const auto result = program.record();
  constexpr std::uint64_t kPages = 32;
  constexpr std::uint64_t kCycles = 10;
  const std::string store = site("fill", "mprotect_loop", "// the store");
  EXPECT_EQ(faults_at(result.import, 0, "5.10", store), kPages + kPages * kCycles);
  EXPECT_EQ(faults_at(result.import, 0, "6.1", store), kPages);
  const auto written_again = [&](const char* profile) {
    const Studied studied = study(result.import, 0, profile);
    return studied.reused + studied.copied;
  };
  EXPECT_EQ(written_again("5.10") - written_again("6.1"), kPages * kCycles);
  expect_no_differences(result.import, "5.10");
  expect_no_differences(result.import, "6.1");
}

INSTANTIATE_TEST_SUITE_P(Linked, MprotectLoop,
                         testing::Values(std::vector<std::string>{}, std::vector<std::string>{"-static"},
                                         std::vector<std::string>{"-no-pie"}, std::vector<std::string>{"-static-pie"}),
                         [](const auto& linked) -> std::string {
                           return linked.param.empty()                ? "Dynamically"
                                  : linked.param.front() == "-static" ? "Statically"
                                  : linked.param.front() == "-no-pie" ? "AtAFixedAddress"
                                                                      : "StaticallyAnywhere";
                         });

TEST(RecordedPrograms, OneAtAFixedLowAddressRunsOnLiveBesideTheAgent) {
  const CompiledProgram program("mprotect_loop", {"cc", {"-no-pie"}});
  RECORDABLE(program);
  const auto result = program.record();
  EXPECT_EQ(differences_live(result.import, 0), std::vector<std::string>{});
}

TEST(RecordedPrograms, CallsAndFaultsAreThoseOfTheKernel) {
  for (const char* name : {"threads", "forks", "reserve", "kernel_stores", "atomic"}) {
    SCOPED_TRACE(name);
    const CompiledProgram program(name);
    RECORDABLE(program);
    const auto result = program.record();
    EXPECT_EQ(result.recorded.status, 0);
    EXPECT_TRUE(result.import.notes.empty()) << result.import.notes.front();
    expect_no_differences(result.import, "6.18");
    expect_native_faults(program, result.import);
  }
}

/// How many accesses of the program ended in that signal.
std::uint64_t signals(const Import& import, int number, int code) {
  const auto& body = import.processes.front().program.body;
  return static_cast<std::uint64_t>(std::ranges::count_if(body, [&](const program::Statement& statement) {
    const auto* access = std::get_if<program::Access>(&statement.node);
    if (access == nullptr || !access->assertion) return false;
    const auto* signal = std::get_if<program::ExpectSignal>(&*access->assertion);
    return signal != nullptr && signal->number == number && signal->code == code;
  }));
}

class Signals : public testing::TestWithParam<const char*> {};

TEST_P(Signals, ThatAProgramHandlesAreInItsRecording) {
  const CompiledProgram program("tracker", {GetParam(), {}});
  RECORDABLE(program);
  const auto result = program.record();
  EXPECT_EQ(result.recorded.status, 0);
  // Every page, every second, third and fourth of 32, each once a round, and a load of PROT_NONE.
  EXPECT_EQ(signals(result.import, SIGSEGV, SEGV_ACCERR), 32U + 16 + 11 + 8 + 1);
  EXPECT_EQ(signals(result.import, SIGSEGV, SEGV_MAPERR), 1U);
  EXPECT_EQ(signals(result.import, SIGBUS, BUS_ADRERR), 1U);
  const bool arm64 = result.import.processes.front().machine == Machine::arm64;
  expect_no_differences(result.import, arm64 ? "arm64/6.12" : "6.18");
  if (!arm64) expect_native_faults(program, result.import);
}

INSTANTIATE_TEST_SUITE_P(Of, Signals, testing::Values("cc", "aarch64-linux-gnu-gcc"),
                         [](const auto& compiler) -> std::string {
                           return std::string_view(compiler.param) == "cc" ? "ThisMachine" : "Arm64";
                         });

TEST(RecordedPrograms, AFileMayGrowAndShrinkUnderItsMapping) {
  const CompiledProgram program("file_sizes");
  RECORDABLE(program);
  const auto result = program.record();
  EXPECT_EQ(result.recorded.status, 0);
  // Pages that the file lost and has again are touched anew.
  EXPECT_EQ(faults_at(result.import, 0, "6.18", site("touch", "file_sizes", "file[i * kPage] = 1")), 32U + 2);
  expect_no_differences(result.import, "6.18");
  expect_native_faults(program, result.import);
}

TEST(RecordedPrograms, AreAlsoCountedByTheKernelWhereThatIsAskedFor) {
  const CompiledProgram program("forks");
  RECORDABLE(program);
  RecordingOptions options;
  options.natively = Natively::yes;
  const auto result = program.record({}, options);
  ASSERT_TRUE(result.import.native.has_value());
  const Native& native = *result.import.native;
  const double faults = static_cast<double>(native.minor_faults + native.major_faults);
  const auto again = static_cast<double>(program.native_faults());
  EXPECT_NEAR(faults, again, 0.01 * again);
  // perf counts what the processor reports, ru_minflt also what the kernel takes for itself.
  if (native.perf == PerfCount::all) {
    EXPECT_NEAR(static_cast<double>(native.page_faults), faults, 0.02 * faults);
  }
}

TEST(RecordedPrograms, TouchesAreRecordedAgainAfterSoManyCalls) {
  const CompiledProgram program("stores_again");
  RECORDABLE(program);
  const auto stores = [&](std::uint64_t again) {
    RecordingOptions options;
    options.again = again;
    const auto result = program.record({}, options);
    std::uint64_t count = 0;
    for (const program::Statement& statement : result.import.processes.front().program.body) {
      const auto* access = std::get_if<program::Access>(&statement.node);
      if (access != nullptr && access->kind == AccessKind::store &&
          statement.text.find(", 131072)") != std::string::npos)
        ++count;
    }
    return count;
  };
  // Ten rounds of stores to 32 pages, each followed by ten calls that concern no memory.
  EXPECT_EQ(stores(0), 1U);
  EXPECT_EQ(stores(10), 10U);
}

TEST(RecordedPrograms, ShowWhatPoliciesWouldRefuseAndWhere) {
  const CompiledProgram program("jit");
  RECORDABLE(program);
  const auto result = program.record();
  expect_no_differences(result.import, "6.18");
  const std::string refusals = data_of(result.import, 0, "6.18", report::Question::policies);
  // Once for each turn, and once for memory that is both (D.3, D.5).
  const auto holds = [&](const std::string& line) {
    EXPECT_NE(refusals.find("\n" + line), std::string::npos) << line << "\n" << refusals;
  };
  holds("MDWE,mprotect," + site("main", "jit", "// the turn") + ",EACCES,10,");
  holds("W^X,mmap," + site("main", "jit", "return mmap") + ",EACCES,1,");
  // Every other page of 64 has a flag of its own: 63 borders, whichever call named either side last (D.1).
  const std::string merges = data_of(result.import, 0, "6.18", report::Question::merges);
  std::uint64_t borders = 0;
  for (std::size_t at = merges.find('\n') + 1; at < merges.size(); at = merges.find('\n', at) + 1) {
    const std::string line = merges.substr(at, merges.find('\n', at) - at);
    if (line.find("the flags differ: dontdump") != std::string::npos) borders += std::stoull(line);
  }
  EXPECT_EQ(borders, 63U);
}

TEST(RecordedPrograms, SixtyFourThreadsAreOneProcess) {
  const CompiledProgram program("threads");
  RECORDABLE(program);
  const auto result = program.record();
  ASSERT_EQ(result.import.processes.size(), 1U);
  // Eight first touches, and one after MADV_DONTNEED.
  EXPECT_EQ(faults_at(result.import, 0, "6.18", site("run", "threads", "block[i * kPage] = 1")), 64U * 8);
  EXPECT_EQ(faults_at(result.import, 0, "6.18", site("run", "threads", "block[kPage] = 2")), 64U);
}

TEST(RecordedPrograms, TwoHundredChildrenEachCopyWhatTheyWrite) {
  const CompiledProgram program("forks");
  RECORDABLE(program);
  const auto result = program.record();
  EXPECT_EQ(result.import.processes.front().forks, 200U);
  EXPECT_EQ(faults_at(result.import, 0, "6.18", site("main", "forks", "block[i * kPage] = 2")), 200U * 4);
}

TEST(RecordedPrograms, WhatAProgramDidUntilItWasKilledIsThere) {
  const CompiledProgram program("killed");
  RECORDABLE(program);
  const auto result = program.record();
  EXPECT_EQ(result.recorded.status, 128 + 9);
  EXPECT_EQ(result.import.processes.front().ending, ProcessEnding::unknown);
  EXPECT_EQ(faults_at(result.import, 0, "6.18", site("main", "killed", "block[i * kPage] = 1")), 50U);
  expect_no_differences(result.import, "6.18");
}

TEST(RecordedPrograms, TheKernelsStoresAreItsOwn) {
  const CompiledProgram program("kernel_stores");
  RECORDABLE(program);
  const auto result = program.record();
  std::uint64_t pages = 0;
  // 16 pages by read, two by the structure that lies across their border.
  for (const program::Statement& statement : result.import.processes.front().program.body) {
    if (statement.text.find(", 65536) = 65536") != std::string::npos) pages += 16;
    if (statement.text.find(", 144) = 144") != std::string::npos) pages += 2;
  }
  EXPECT_EQ(pages, 18U);
}

TEST(RecordedPrograms, ProgramsThatAreExecutedAreRecordedToo) {
  const CompiledProgram program("executes");
  RECORDABLE(program);
  const auto result = program.record({"a", "b", "c"});
  EXPECT_EQ(result.recorded.status, 7);
  // Each executes itself in a child and in its own place with one argument less: 1 + 2 + 4 + 8.
  EXPECT_EQ(result.import.processes.size(), 15U);
  expect_no_differences(result.import, "6.18");
  expect_native_faults(program, result.import, {"a", "b", "c"});
}

TEST(RecordedPrograms, AnArm64ProgramFaultsTwiceWhereAnAtomicIsTheFirstTouch) {
  const CompiledProgram program("atomic", {"aarch64-linux-gnu-gcc", {"-march=armv8.1-a"}});
  RECORDABLE(program);
  const auto result = program.record();
  ASSERT_EQ(result.import.processes.front().machine, Machine::arm64);
  const std::string atomic = site("main", "atomic", "__atomic_fetch_add");
  EXPECT_EQ(faults_at(result.import, 0, "arm64/6.8", atomic), 2U * 8);
  EXPECT_EQ(faults_at(result.import, 0, "arm64/6.8+rmw=write-first", atomic), 8U);
  expect_no_differences(result.import, "arm64/6.8");
}

TEST(RecordedPrograms, ACommandThatCannotBeRecordedIsAnError) {
  EXPECT_FALSE(can_record("/nonexistent").has_value());
  const auto text = can_record(std::string(FAULTLINE_RECORDED_PROGRAMS) + "/atomic.c");
  EXPECT_FALSE(text.has_value());
}

}  // namespace
}  // namespace faultline::record
