// From the agent's marks to the samples of rows.
#include <gtest/gtest.h>

#include "machine/vm/counted.h"
#include "machine/vm/functions.h"
#include "machine/vm/plugin/call_tree.h"
#include "machine/vm/plugin/windows.h"

namespace faultline::machine::vm {
namespace {

using run::Mark;
using run::WindowRecord;

/// A processor that executes what it is told.
class Told {
 public:
  void mark(Mark mark, std::uint32_t argument = 0) {
    for (int shift = 24; shift >= 0; shift -= 8)
      take(static_cast<std::uint32_t>(Mark::digit) + (argument >> shift & 0xff));
    take(static_cast<std::uint32_t>(mark));
  }
  void take(std::uint32_t value) { handed_over_ = windows.take(value, records, message); }
  void kernel(std::uint64_t instructions) { windows.executed += instructions; }
  /// An interrupt's first instruction up to its return, which counts as one.
  void interrupt(std::uint64_t instructions) {
    windows.interrupt_begins();
    kernel(instructions - 1);
    windows.returns(windows.executed + 1);
    kernel(1);
  }

  Windows windows;
  std::vector<WindowRecord> records;
  std::string message;
  bool handed_over_ = false;
};

TEST(Windows, CountWhatTheKernelExecutesBetweenTheirEnds) {
  Told told;
  told.kernel(100);
  told.mark(Mark::window_begins, 7);
  told.kernel(4731);
  told.mark(Mark::window_ends);
  ASSERT_EQ(told.records.size(), 1U);
  EXPECT_EQ(told.records[0].argument, 7U);
  EXPECT_EQ(told.records[0].instructions, 4731U);
  EXPECT_EQ(told.records[0].interrupts, 0U);
}

TEST(Windows, TellInterruptsApartAlsoThoseWithExceptionsAndInterruptsInThem) {
  Told told;
  told.mark(Mark::window_begins, 1);
  told.kernel(10);
  told.interrupt(3000);
  told.kernel(20);
  told.windows.interrupt_begins();
  told.kernel(100);
  told.windows.exception_begins();
  told.kernel(50);
  told.windows.returns(told.windows.executed + 1);
  told.kernel(1);
  told.interrupt(40);
  told.windows.returns(told.windows.executed + 1);
  told.kernel(1);
  told.kernel(5);
  told.mark(Mark::window_ends);
  EXPECT_EQ(told.records.at(0).instructions, 35U);
  EXPECT_EQ(told.records.at(0).interrupts, 3192U);
}

TEST(Windows, DoNotTakeAnExceptionOfTheOperationForAnInterrupt) {
  Told told;
  told.mark(Mark::window_begins, 1);
  told.windows.exception_begins();
  told.kernel(900);
  told.windows.returns(told.windows.executed + 1);
  told.kernel(1);
  told.mark(Mark::window_ends);
  EXPECT_EQ(told.records.at(0).instructions, 901U);
}

TEST(Windows, CountPageFaultsButNotThoseOfInterrupts) {
  Told told;
  told.windows.fault();  // before the window
  told.mark(Mark::window_begins, 1);
  told.windows.fault();
  told.windows.interrupt_begins();
  told.windows.fault();
  told.windows.returns(told.windows.executed + 1);
  told.mark(Mark::window_ends);
  EXPECT_EQ(told.records.at(0).faults, 1U);
}

TEST(Windows, OfTwoThreadsThatOverlapAreBothBroken) {
  Told told;
  told.mark(Mark::window_begins, 3);
  told.mark(Mark::window_begins, 3);
  told.mark(Mark::window_ends);
  told.mark(Mark::window_ends);
  ASSERT_EQ(told.records.size(), 2U);
  EXPECT_EQ(told.records[0].argument, run::kBrokenWindow);
  EXPECT_EQ(told.records[1].argument, run::kBrokenWindow);
}

TEST(Windows, CarryMessagesToo) {
  Told told;
  for (const char c : std::string("\xff hi\0", 5)) told.take(static_cast<std::uint8_t>(c));
  EXPECT_FALSE(told.handed_over_);
  told.mark(Mark::message_ends);
  EXPECT_TRUE(told.handed_over_);
  EXPECT_EQ(told.message, std::string("\xff hi\0", 5));
}

const CounterSet kNothing;
const CounterSet kFaults = CounterSet().set(std::to_underlying(Counter::exceptions));

/// Of an execution that is a sample and is counted, too.
WindowRecord record(Mark mark, std::uint32_t row, std::uint64_t instructions = 0, std::uint64_t interrupts = 0,
                    std::uint64_t faults = 0, std::uint32_t flags = run::kSampledFlag | run::kCountedFlag) {
  return {static_cast<std::uint32_t>(mark), run::mark_argument(row, flags), instructions, faults, interrupts};
}

run::Report report_of(std::initializer_list<std::vector<double>> samples) {
  run::Report report;
  for (const std::vector<double>& row : samples) {
    run::Row made;
    made.samples = row;
    report.rows.push_back(made);
  }
  return report;
}

TEST(AddCounted, SumsTheWindowsOfAnOperationAndTheOperationsOfARepetition) {
  // Row 0 is a fetch of two windows, row 1 a call, row 2 the measure block around both.
  run::Report report = report_of({{2}, {1}, {3}});
  const Interrupts interrupts = add_counted(
      report,
      {record(Mark::repetition_begins, 2), record(Mark::window_ends, 0, 100), record(Mark::window_ends, 0, 50, 3000),
       record(Mark::operation_ends, 0), record(Mark::window_ends, 1, 1000), record(Mark::operation_ends, 1),
       record(Mark::repetition_ends, 2)},
      kFaults);
  EXPECT_EQ(report.rows[0].samples, std::vector<double>{152});
  EXPECT_EQ(report.rows[1].samples, std::vector<double>{1001});
  EXPECT_EQ(report.rows[2].samples, std::vector<double>{1153});
  EXPECT_EQ(interrupts.windows, 1U);
  EXPECT_EQ(interrupts.instructions, 3000U);
}

TEST(AddCounted, LeavesOutOfTheSamplesWhatIsOnlyCountedAndOfTheCountsWhatIsOnlySampled) {
  run::Report report = report_of({{1}});
  report.rows[0].counted_calls = 1;
  add_counted(report,
              {record(Mark::window_ends, 0, 5, 0, 2, run::kCountedFlag),
               record(Mark::operation_ends, 0, 0, 0, 0, run::kCountedFlag),
               record(Mark::window_ends, 0, 7, 0, 1, run::kSampledFlag),
               record(Mark::operation_ends, 0, 0, 0, 0, run::kSampledFlag)},
              kFaults);
  EXPECT_EQ(report.rows[0].samples, std::vector<double>{8});
  EXPECT_EQ(report.rows[0].counted[Counter::exceptions], 2U);
  EXPECT_TRUE(report.notes.empty());
}

TEST(AddCounted, KeepsTheAgentsFaultsWhereThePluginSeesNone) {
  run::Report report = report_of({{1}});
  report.rows[0].counted_calls = 1;
  report.rows[0].counted[Counter::exceptions] = 32;
  add_counted(report, {record(Mark::window_ends, 0, 5), record(Mark::operation_ends, 0)}, kNothing);
  EXPECT_EQ(report.rows[0].counted[Counter::exceptions], 32U);
}

TEST(AddCounted, GivesNoFigureForARowOfBrokenWindows) {
  run::Report report = report_of({{1, 1}});
  report.rows[0].line = 12;
  WindowRecord broken = record(Mark::window_ends, 0, 7);
  broken.argument = run::kBrokenWindow;
  add_counted(
      report,
      {record(Mark::window_ends, 0, 7), record(Mark::operation_ends, 0), broken, record(Mark::operation_ends, 0)},
      kFaults);
  EXPECT_TRUE(report.rows[0].samples.empty());
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_TRUE(report.notes[0].contains("lines 12")) << report.notes[0];
}

TEST(FunctionFiles, KnowWhereInterruptsBegin) {
  const FunctionFiles files = function_files(
      "ffffffff81000000 T _stext\nffffffff81000000 T _text\nffffffff81e015f0 T asm_sysvec_apic_timer_interrupt\n"
      "ffffffff81e01280 T asm_exc_page_fault\nnonsense\n",
      arch::Arch::x86_64);
  EXPECT_EQ(files.entries,
            "ffffffff81e01280 p asm_exc_page_fault\nffffffff81e015f0 i asm_sysvec_apic_timer_interrupt\n");
  EXPECT_EQ(function_names(files.all),
            (std::vector<std::string>{"_stext", "asm_exc_page_fault", "asm_sysvec_apic_timer_interrupt"}));
}

TEST(FunctionFiles, KnowTheVectorsOfArm64) {
  const FunctionFiles files = function_files("ffff800080010800 T vectors\n", arch::Arch::arm64);
  EXPECT_TRUE(files.entries.contains("ffff800080010a80 i vectors\n"))
      << files.entries;                                                 // + 0x280: an interrupt in the kernel
  EXPECT_TRUE(files.entries.contains("ffff800080010c80 i vectors\n"));  // + 0x480: one in user mode
  EXPECT_TRUE(files.entries.contains("ffff800080010c00 e vectors\n"));  // + 0x400: a call or a fault
}

constexpr std::uint8_t kCall[] = {0xe8, 0, 0, 0, 0};
constexpr std::uint8_t kReturn[] = {0xc3};
constexpr std::uint8_t kNop[] = {0x90};

TEST(CallTree, FollowsCallsReturnsAndJumpsToOtherFunctions) {
  CallTree tree;
  Walker walker;
  walker.restart(1);
  const auto step = [&](std::uint32_t function, std::span<const std::uint8_t> bytes) {
    walker.step(tree, place_of(function, bytes, false));
  };
  step(1, kNop);     // 1
  step(1, kCall);    // calls 2
  step(2, kNop);     // which jumps to 3
  step(3, kReturn);  // which returns for it
  step(1, kReturn);
  ASSERT_EQ(tree.nodes().size(), 3U);
  EXPECT_EQ(tree.nodes()[0].instructions, 3U);
  EXPECT_EQ(tree.nodes()[1].function, 2U);
  EXPECT_EQ(tree.nodes()[2].function, 3U);
  EXPECT_EQ(tree.nodes()[2].parent, 0U);
  EXPECT_EQ(tree.nodes()[2].instructions, 1U);
}

TEST(CallTree, KeepsRowsApart) {
  CallTree tree;
  Walker walker;
  for (const std::uint32_t argument : {1U, 3U}) {
    walker.restart(argument);
    walker.step(tree, place_of(9, kNop, false));
  }
  ASSERT_EQ(tree.nodes().size(), 2U);
  EXPECT_EQ(tree.nodes()[0].argument, 1U);
  EXPECT_EQ(tree.nodes()[1].argument, 3U);
}

}  // namespace
}  // namespace faultline::machine::vm
