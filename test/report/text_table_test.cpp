// What `faultline run` prints, against text written by hand.
#include "report/text_table.h"

#include <gtest/gtest.h>

#include "reports.h"

namespace faultline::report {
namespace {

std::string table(const Comparison& comparison) { return text_table(comparison, Counted::differences, Colour::off); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The rows of design.md §9, with its figures.
std::vector<run::Row> cycle_on(double none, double rw, double store, double cycle, std::uint64_t faults,
                               std::uint64_t writable) {
  const ShapeOf touched{.vmas = 1, .present = 32, .writable = 32};
  const ShapeOf denied{.vmas = 1, .present = 32, .writable = 0};
  return {
      shaped(in_block(exact(9, "mprotect(a, size, PROT_NONE)", none), "cycle"), touched, denied),
      shaped(in_block(exact(10, "mprotect(a, size, PROT_READ|PROT_WRITE)", rw), "cycle"), denied,
             {.vmas = 1, .present = 32, .writable = writable}),
      shaped(in_block(exact(11, "store(a, size)", store, faults), "cycle"), denied, touched),
      as_block(exact(8, "", cycle, faults), "cycle"),
  };
}

TEST(TextTable, ShowsTheSketchOfTheDesign) {
  Comparison comparison =
      comparison_of({report_of("vm:5.10", "Linux 5.10.223", cycle_on(4731, 4799, 31893, 41423, 32, 0)),
                     report_of("vm:6.1", "Linux 6.1.176", cycle_on(7861, 7381, 135, 15377, 0, 32))});
  comparison.params = {{"pages", 32, "32"}};
  EXPECT_EQ(table(comparison), R"(programs/mprotect-cycle.fl · pages=32 · instructions
vm:5.10 is Linux 5.10.223
vm:6.1 is Linux 6.1.176

line   operation                                 vm:5.10   vm:6.1   change
   9   mprotect(a, size, PROT_NONE)                4,731    7,861   +66.2%
  10   mprotect(a, size, PROT_READ|PROT_WRITE)     4,799    7,381   +53.8%
  11   store(a, size)                             31,893      135   −99.6%
         faults, as exceptions                        32        0
       cycle (each of 10)                         41,423   15,377   −62.9%
         faults, as exceptions                        32        0

shape before lines 9, 10, 11: 1 VMA, 32 pages present on both
writable after line 10: 0 of 32 on vm:5.10, 32 of 32 on vm:6.1
)");
}

TEST(TextTable, ShowsModelsByWhatTheyCountAndLiveWithItsSpread) {
  const auto model = [](std::uint64_t faults, std::uint64_t upgraded) {
    return std::vector{
        counted(10, "mprotect(a, size, PROT_READ|PROT_WRITE)", 1000,
                {{Counter::ptes_changed, 32}, {Counter::ptes_upgraded, upgraded}}),
        counted(11, "store(a, size)", 1000,
                {{Counter::exceptions, faults}, {Counter::minor_faults, faults}, {Counter::fault_reuse, faults}})};
  };
  std::vector<double> flips(1000, 1201);
  std::vector<double> stores(1000, 98.6);
  for (std::size_t i = 0; i < 300; ++i) flips[i] = 1153;  // the lower quartile: 4% below the median
  Comparison comparison = comparison_of({report_of("model:5.10", "model of Linux 5.10 (x86-64)", model(32, 0)),
                                         report_of("model:6.12", "model of Linux 6.12 (x86-64)", model(0, 32)),
                                         report_of("live", "Linux 6.18.44 (x86-64)",
                                                   {measured(10, "mprotect(a, size, PROT_READ|PROT_WRITE)", flips),
                                                    measured(11, "store(a, size)", stores)})});
  comparison.answers = "Does each page take a fault after a protection round trip?";
  EXPECT_EQ(table(comparison),
            R"(programs/mprotect-cycle.fl · counts per call · live in ns: median, half of the samples within ±
Does each page take a fault after a protection round trip?
live is Linux 6.18.44 (x86-64)

line   operation                                 model:5.10   model:6.12             live
  10   mprotect(a, size, PROT_READ|PROT_WRITE)                             1,201 ns   ±4%
         PTEs made writable by mprotect                   0           32                –
  11   store(a, size)                                                       98.6 ns ±0.0%
         faults, as exceptions                           32            0                0
         faults, write upgrade in place                  32            0                –
)");
}

TEST(TextTable, RefusesToCompareRowsOfUnlikeShapeAndSaysWhy) {
  const Comparison comparison = comparison_of(
      {report_of("vm:6.8", {shaped(exact(9, "munmap(a, size)", 100), {.vmas = 12}), exact(10, "munmap(b, size)", 100)}),
       report_of("vm:6.12",
                 {shaped(exact(9, "munmap(a, size)", 200), {.vmas = 1000}), exact(10, "munmap(b, size)", 200)})});
  EXPECT_EQ(table(comparison), R"(programs/mprotect-cycle.fl · instructions

line   operation         vm:6.8   vm:6.12    change
   9   munmap(a, size)      100       200
  10   munmap(b, size)      100       200   +100.0%

line 9 not compared: 12 VMAs on vm:6.8 against 1,000 on vm:6.12

shape before line 9: 12 VMAs on vm:6.8; 1,000 VMAs on vm:6.12
)");
}

TEST(TextTable, GathersRowsThatAreRefusedForTheSameReason) {
  std::vector<run::Row> a;
  std::vector<run::Row> b;
  for (std::uint32_t line = 1; line <= 10; ++line) {
    a.push_back(shaped(counted(line, "x", 1), {.vmas = 12}));
    b.push_back(shaped(counted(line, "x", 1), {.vmas = 1000}));
  }
  const std::string text = table(comparison_of({report_of("a", a), report_of("b", b)}));
  EXPECT_TRUE(
      contains(text, "\nlines 1, 2, 3, 4, 5, 6, 7, 8 and 2 more not compared: 12 VMAs on a against 1,000 on b\n"))
      << text;
}

TEST(TextTable, ShowsCallsThatFailedAndCallsThatDiffer) {
  run::Row sealed = counted(9, "munmap(a, PAGE)", 32);
  sealed.failures = 32;
  const Comparison comparison =
      comparison_of({report_of("model:6.8", {counted(9, "munmap(a, PAGE)", 32)}), report_of("model:6.12", {sealed})});
  EXPECT_EQ(table(comparison), R"(programs/mprotect-cycle.fl · counts per call

line   operation             model:6.8   model:6.12
   9   munmap(a, PAGE)
         calls that failed           0     32 of 32
)");
}

TEST(TextTable, ShowsEveryCounterWhenAsked) {
  const Comparison comparison = comparison_of(
      {report_of("model:6.8", {counted(9, "munmap(a, PAGE)", 2, {{Counter::vma_visits, 3}, {Counter::splits, 1}})})});
  EXPECT_FALSE(contains(table(comparison), "VMAs visited"));
  const std::string text = text_table(comparison, Counted::all, Colour::off);
  EXPECT_TRUE(contains(text, "\n         VMAs visited            3\n")) << text;
  EXPECT_TRUE(contains(text, "\n         VMA splits              1\n")) << text;
}

TEST(TextTable, DoesNotShowACounterThatAMachineCannotSeeAsZero) {
  run::Row row = measured(9, "store(a, PAGE)", {100, 100, 100});
  row.known = {};
  const Comparison comparison = comparison_of(
      {report_of("model:6.8", {counted(9, "store(a, PAGE)", 3, {{Counter::exceptions, 1}, {Counter::fault_write, 1}})}),
       report_of("live", {row})});
  EXPECT_TRUE(contains(table(comparison), "faults, first touch by a write           1              –\n"))
      << table(comparison);
}

TEST(TextTable, GivesNoSpreadForFewerThanThreeSamples) {
  const std::string text = table(comparison_of(
      {report_of("live", {measured(9, "x", {412})}), report_of("live2", {measured(9, "x", {412, 414})})}));
  EXPECT_TRUE(contains(text, "412 ns (1 sample)   413 ns (2 samples)")) << text;
}

TEST(TextTable, MarksARowThatAMachineDidNotReach) {
  const std::string text =
      table(comparison_of({report_of("a", {exact(1, "x", 5), exact(2, "y", 7)}), report_of("b", {exact(1, "x", 5)})}));
  EXPECT_TRUE(contains(text, "\n   2   y           7   –\n")) << text;
}

TEST(TextTable, ShowsFailedExpectationsInFullAndCountsTheOthers) {
  run::Report report = report_of("live", {counted(1, "x", 1)});
  report.checks = {
      {{14, 1}, "expect vmas(a, size) == 1", run::CheckStatus::failed, 1, "found 3, expected == 1"},
      {{15, 1}, "expect faults(\"cycle\") == 0", run::CheckStatus::held, 1, ""},
      {{16, 1}, "expect value(a) == 1", run::CheckStatus::held, 1, ""},
      {{17, 1}, "expect perm(a) == 1 on model", run::CheckStatus::skipped, 0, "not on live"},
  };
  const std::string text = table(comparison_of({report}));
  EXPECT_TRUE(contains(text, R"(
line 14 FAILED on live: expect vmas(a, size) == 1: found 3, expected == 1
2 expectations held, 1 failed, 1 skipped
)")) << text;
}

TEST(TextTable, CountsExpectationsPerMachineOnlyWhereTheyDiffer) {
  run::Report held = report_of("a", {counted(1, "x", 1)});
  held.checks = {{{14, 1}, "t", run::CheckStatus::held, 1, ""}};
  run::Report also = held;
  also.machine = "b";
  EXPECT_TRUE(contains(table(comparison_of({held, also})), "\n1 expectation held on both\n"));
  also.checks[0].status = run::CheckStatus::skipped;
  const std::string text = table(comparison_of({held, also}));
  EXPECT_TRUE(contains(text, "\na: 1 expectation held\nb: 0 expectations held, 1 skipped\n")) << text;
}

TEST(TextTable, DoesNotCountExpectationsThatNameOtherMachines) {
  run::Report here = report_of("live", {counted(1, "x", 1)});
  here.checks = {{{14, 1}, "t", run::CheckStatus::held, 1, ""},
                 {{15, 1}, "u", run::CheckStatus::elsewhere, 0, "not for this machine"}};
  EXPECT_TRUE(contains(table(comparison_of({here})), "\n1 expectation held\n"));
  here.checks[0].status = run::CheckStatus::elsewhere;
  EXPECT_TRUE(contains(table(comparison_of({here})), "\nno expectation is for this machine\n"));
}

TEST(TextTable, SaysHowARunEndedThatWasNotCompleted) {
  run::Report killed = report_of("live", {counted(1, "x", 1)});
  killed.ending = run::Ending::signal;
  killed.signal = Signal{kSigSegv, kSegvMapErr, Addr{0x7000}};
  killed.ended_at = {12, 1};
  killed.notes = {"pagemap was not to be read"};
  const std::string text = table(comparison_of({killed}));
  EXPECT_TRUE(contains(text, "\nlive: killed by SIGSEGV SEGV_MAPERR at 0x7000 at line 12\n")) << text;
  EXPECT_TRUE(contains(text, "\nlive: pagemap was not to be read\n")) << text;
}

TEST(TextTable, OfARunThatDidNothingIsJustItsTitle) {
  EXPECT_EQ(table(comparison_of({report_of("model:6.12", {})})), "programs/mprotect-cycle.fl\n");
}

TEST(TextTable, HasEscapesOnlyInColour) {
  const Comparison comparison = comparison_of({report_of("model:6.12", {counted(1, "x\033[2J", 1)})});
  EXPECT_FALSE(contains(table(comparison), "\033"));
  const std::string coloured = text_table(comparison, Counted::differences, Colour::on);
  EXPECT_TRUE(contains(coloured, "\033[1m"));
  EXPECT_FALSE(contains(coloured, "\033[2J"));
}

TEST(Colour, IsOffWhereThereIsNoTerminalOrNoColorIsSet) {
  // Standard output of a test is no terminal as a rule; descriptor -1 never is one.
  EXPECT_EQ(colour_for(-1), Colour::off);
}

}  // namespace
}  // namespace faultline::report
