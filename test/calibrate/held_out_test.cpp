// The built-in tables predict, on the kernels that they are of, what programs cost that had no part in fitting: half of
// the lines to 5%, and each to 15%. Two of the programs, as booting and running all takes minutes: `faultline
// calibrate` runs them all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "calibrate/observe.h"
#include "cost/built_in.h"
#include "program/parser.h"
#include "vm/needs_kernel.h"

namespace faultline::calibrate {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const cost::CostTable* built_in(const std::string& profile) {
  const auto tables = cost::built_in_tables();
  const auto found = std::ranges::find(tables, profile, &cost::CostTable::profile);
  return found == tables.end() ? nullptr : &*found;
}

/// Another build of the agent, or another release of the kernel's series, counts a little otherwise.
constexpr double kBuildsDiffer = 0.05;

class HeldOut : public testing::TestWithParam<const char*> {};

TEST_P(HeldOut, ProgramsAreWithinTheErrorsThatTheTableStates) {
  const std::string kernel = GetParam();
  NEEDS(kernel);
  const cost::CostTable* table = built_in(kernel);
  ASSERT_NE(table, nullptr);
  const auto machine = machine::make_machine("vm:" + kernel);
  ASSERT_TRUE(machine) << machine.error();
  const mm::Profile profile = *mm::parse_profile(kernel);
  int lines = 0;
  for (const char* name : {"quarantine.fl", "stacks.fl"}) {
    const auto program = program::parse(text_of(std::string(FAULTLINE_PROGRAMS "/calibration/held-out/") + name), name);
    ASSERT_TRUE(program);
    const auto observed = observe({name, &*program}, profile, **machine, {});
    ASSERT_TRUE(observed) << observed.error();
    for (const cost::Observation& line : observed->lines) {
      const auto predicted = cost::predicted(*table, line);
      ASSERT_TRUE(predicted) << name << ":" << line.line;
      const double error = std::abs(*predicted / line.instructions - 1);
      EXPECT_LE(error, table->of(line.operation)->error.worst + kBuildsDiffer)
          << name << ":" << line.line << ": " << line.text << ": predicted " << *predicted << ", counted "
          << line.instructions;
      ++lines;
    }
  }
  EXPECT_GE(lines, 15);
}

INSTANTIATE_TEST_SUITE_P(Kernels, HeldOut, testing::Values("5.10", "6.1", "6.12", "7.3", "arm64/5.10", "arm64/6.12"),
                         [](const auto& test) { return machine::test_name(test.param); });

}  // namespace
}  // namespace faultline::calibrate
