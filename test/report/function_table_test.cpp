// Where instructions went.
#include "report/function_table.h"

#include <gtest/gtest.h>

#include "reports.h"

namespace faultline::report {
namespace {

constexpr std::uint32_t kNone = run::CallPath::kNoParent;

/// Ten calls of a program's one instruction, and of the kernel's: outer, which calls inner, which calls outer again.
run::Row recursive(std::uint64_t inner) {
  run::Row row = exact(10, "mprotect(a, size, PROT_NONE)", static_cast<double>(101 + inner));
  row.paths = {
      {kNone, "outer", 600, 10}, {0, "inner", inner * 10, 10}, {1, "outer", 400, 10}, {kNone, "(program)", 10, 10}};
  return row;
}

Comparison compared(std::initializer_list<run::Row> rows) {
  Comparison comparison{"cycle.fl", "", {}, {}, {}};
  for (const run::Row& row : rows) {
    run::Report report;
    report.machine = "vm:" + std::to_string(comparison.reports.size());
    report.rows = {row};
    comparison.reports.push_back(report);
  }
  return comparison;
}

TEST(FunctionsOf, CountRecursionOnceInWhatTheyCalled) {
  const auto functions = functions_of(recursive(50));
  ASSERT_EQ(functions.size(), 3U);
  EXPECT_EQ(functions[0].function, "outer");
  EXPECT_EQ(functions[0].self, 1000U);
  EXPECT_EQ(functions[0].inclusive, 1500U);
  EXPECT_EQ(functions[1].function, "inner");
  EXPECT_EQ(functions[1].inclusive, 900U);
}

TEST(FunctionTable, ShowsDifferencesOfTwoMachinesWhoseSumIsThatOfTheTotals) {
  const std::string table = function_table(compared({recursive(50), recursive(450)}), std::nullopt, Colour::off);
  EXPECT_TRUE(table.contains("line 10")) << table;
  EXPECT_TRUE(table.contains("inner         50    450         +400")) << table;
  EXPECT_TRUE(table.contains("total        151    551         +400")) << table;
  // The largest difference stands first.
  EXPECT_LT(table.find("inner"), table.find("outer")) << table;
}

TEST(FunctionTable, ShowsOneLineOfTheProgramWhereThatIsAskedFor) {
  EXPECT_EQ(function_table(compared({recursive(50)}), 11, Colour::off), "");
  EXPECT_TRUE(function_table(compared({recursive(50)}), 10, Colour::off).contains("with callees"));
}

TEST(FoldedStacks, AreOneLineForEachPath) {
  EXPECT_EQ(folded_stacks(compared({recursive(50)})),
            "vm:0;line 10;outer 60\nvm:0;line 10;outer;inner 50\nvm:0;line 10;outer;inner;outer 40\n"
            "vm:0;line 10;(program) 1\n");
}

TEST(Callgrind, HoldsFunctionsAndTheirCalls) {
  const std::string text = callgrind(compared({recursive(50)}), 0);
  EXPECT_TRUE(text.contains("events: Instructions\n")) << text;
  EXPECT_TRUE(text.contains("fn=outer\n0 1000\ncfn=inner\ncalls=10 0\n0 900\n")) << text;
}

}  // namespace
}  // namespace faultline::report
