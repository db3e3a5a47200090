// --set: which runs it asks for, and what a table's title says of them.
#include "cli/sweep.h"

#include <gtest/gtest.h>

#include "cli/default_machines.h"
#include "program/parser.h"

namespace faultline::cli {
namespace {

std::string text(const std::vector<std::pair<std::string, Setting>>& settings) {
  std::string text;
  for (const auto& [name, setting] : settings) text += name + "=" + std::to_string(setting.value) + " ";
  return text;
}

program::Program program_of(std::string_view source) { return std::move(*program::parse(source, "test.fl")); }

TEST(Sweep, OfNothingIsOneRun) {
  const Sweep sweep = *Sweep::parse({});
  EXPECT_EQ(sweep.runs(), 1u);
  EXPECT_TRUE(sweep.at(0).empty());
}

TEST(Sweep, IsTheProductWithTheLastParamChangingFastest) {
  const Sweep sweep = *Sweep::parse({"a=1,2", "b=10,20,30"});
  ASSERT_EQ(sweep.runs(), 6u);
  EXPECT_EQ(text(sweep.at(0)), "a=1 b=10 ");
  EXPECT_EQ(text(sweep.at(1)), "a=1 b=20 ");
  EXPECT_EQ(text(sweep.at(3)), "a=2 b=10 ");
  EXPECT_EQ(text(sweep.at(5)), "a=2 b=30 ");
}

TEST(Sweep, ReadsValuesAsProgramsWriteThem) {
  EXPECT_EQ(text(Sweep::parse({"size=4K,1M,0x10"})->at(1)), "size=1048576 ");
}

TEST(Sweep, RefusesMoreRunsThanAnyoneMeans) {
  std::string many = "a=1";
  for (int i = 0; i < 200; ++i) many += ",1";
  EXPECT_TRUE(Sweep::parse({many}));
  EXPECT_FALSE(Sweep::parse({many, "b" + many.substr(1)}));
}

TEST(Sweep, FindsAParamThatTheProgramDoesNotHave) {
  const program::Program program = program_of("param pages = 32\n");
  EXPECT_EQ(missing_param(program, *Sweep::parse({"pages=1"})), "");
  EXPECT_EQ(missing_param(program, *Sweep::parse({"page=1"})),
            "--set page: test.fl has no param of that name; expected one of pages");
  EXPECT_EQ(missing_param(program_of(""), *Sweep::parse({"page=1"})),
            "--set page: test.fl has no param of that name; it has none");
}

TEST(ParamValues, AreThoseSetAndThoseOfTheProgramAsWritten) {
  const auto values = param_values(program_of("param size = 128K\nparam n = 2\nparam total = size * n\n"),
                                   Sweep::parse({"n=3"})->at(0));
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0].text, "128K");
  EXPECT_EQ(values[0].value, 131072u);
  EXPECT_EQ(values[1].text, "3");
  EXPECT_EQ(values[2].text, "393216");
}

TEST(ParamValues, LeaveOutWhatOnlyARunCanTell) {
  const auto values = param_values(program_of("param n = 2\nlet limit = max_map_count()\nparam many = n * 2\n"), {});
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].name, "n");
}

TEST(DefaultMachines, AreTheModelNearestBelowTheRunningKernelAndLive) {
  EXPECT_EQ(default_machines("6.18.44-generic", "x86_64"), (std::vector<std::string>{"model:6.18", "live"}));
  EXPECT_EQ(default_machines("6.16.3", "x86_64"), (std::vector<std::string>{"model:6.12", "live"}));
  EXPECT_EQ(default_machines("6.1.0-44-amd64", "x86_64"), (std::vector<std::string>{"model:6.1", "live"}));
  EXPECT_EQ(default_machines("6.9.0", "aarch64"), (std::vector<std::string>{"model:arm64/6.8", "live"}));
}

TEST(DefaultMachines, AreTheOldestModelForAnOlderKernelAndTheNewestForANewerOne) {
  EXPECT_EQ(default_machines("4.19.0", "x86_64").front(), "model:5.10");
  EXPECT_EQ(default_machines("9.0.0", "x86_64").front(), "model:7.3");
}

}  // namespace
}  // namespace faultline::cli
