// Which machines a pattern behind `on` names.
#include "program/machine_pattern.h"

#include <gtest/gtest.h>

namespace faultline::program {
namespace {

MachinePattern pattern(std::string_view text) {
  std::string expected;
  const auto parsed = parse_machine_pattern(text, expected);
  EXPECT_TRUE(parsed) << text << ": expected " << expected;
  return parsed.value_or(MachinePattern{});
}
bool matches(std::string_view text, const MachineId& machine) { return pattern(text).matches(machine); }

const MachineId kModel61{"model", "x86-64", "6.1", ""};
const MachineId kModel612{"model", "x86-64", "6.12", ""};
const MachineId kModelArm68{"model", "arm64", "6.8", ""};
const MachineId kModelArm68WriteFirst{"model", "arm64", "6.8", "+rmw=write-first"};
const MachineId kLive618{"live", "x86-64", "6.18.44", ""};
const MachineId kVm612{"vm", "x86-64", "6.12.117", ""};
const MachineId kVmArm612{"vm", "arm64", "6.12.117", ""};
const MachineId kVmUnknown{"vm", "x86-64", "", ""};

TEST(MachinePattern, AKindAloneNamesEveryMachineOfThatKind) {
  EXPECT_TRUE(matches("model", kModel612));
  EXPECT_TRUE(matches("model", kModelArm68WriteFirst));
  EXPECT_FALSE(matches("model", kLive618));
  EXPECT_TRUE(matches("live", kLive618));
  EXPECT_TRUE(matches("vm", kVmUnknown));
  EXPECT_FALSE(matches("vm", kModel612));
}

TEST(MachinePattern, AnArchitectureAloneNamesItsMachines) {
  EXPECT_TRUE(matches("model:arm64", kModelArm68WriteFirst));
  EXPECT_FALSE(matches("model:arm64", kModel612));
  EXPECT_TRUE(matches("vm:x86-64", kVmUnknown));
}

TEST(MachinePattern, AVersionNamesOneMachineWithItsPolicies) {
  EXPECT_TRUE(matches("model:6.12", kModel612));
  EXPECT_TRUE(matches("model:6.1", kModel61));
  EXPECT_FALSE(matches("model:6.1", kModel612));
  EXPECT_FALSE(matches("model:6.12", kModel61));
  EXPECT_FALSE(matches("vm:6.12", kModel612));
  EXPECT_TRUE(matches("model:arm64/6.8", kModelArm68));
  EXPECT_FALSE(matches("model:arm64/6.8", kModelArm68WriteFirst));
  EXPECT_TRUE(matches("model:arm64/6.8+rmw=write-first", kModelArm68WriteFirst));
  EXPECT_FALSE(matches("model:arm64/6.8+rmw=write-first", kModelArm68));
  EXPECT_FALSE(matches("model:arm64/6.8+rmw=read-first", kModelArm68WriteFirst));
  EXPECT_TRUE(matches("model:5.10+upgrade=page-count", {"model", "x86-64", "5.10", "+upgrade=page-count"}));
}

TEST(MachinePattern, WithoutAnArchitectureAVersionMeansX86) {
  EXPECT_FALSE(matches("model:6.8", kModelArm68));
  EXPECT_TRUE(matches("model:x86-64/6.12", kModel612));
  EXPECT_TRUE(matches("vm:arm64/6.12", kVmArm612));
  EXPECT_FALSE(matches("vm:arm64/6.12", kVm612));
  EXPECT_FALSE(matches("vm:6.12", kVmArm612));
}

TEST(MachinePattern, ARunningKernelsReleaseIsItsVersionAsFarAsThatGoes) {
  EXPECT_TRUE(matches("vm:6.12", kVm612));
  EXPECT_TRUE(matches("live:6.18", kLive618));
  EXPECT_TRUE(matches("live:6.18.44", kLive618));
  EXPECT_FALSE(matches("live:6.18.4", kLive618));
  EXPECT_FALSE(matches("live:6.1", kLive618));
  EXPECT_FALSE(matches("vm:6.12.117", kModel612));
  EXPECT_TRUE(matches("live:6.1", {"live", "x86-64", "6.1.0-9-amd64", ""}));
}

TEST(MachinePattern, PoliciesCompareInAnyOrder) {
  EXPECT_TRUE(
      matches("model:6.8+seal=upfront+rmw=write-first", {"model", "x86-64", "6.8", "+rmw=write-first+seal=upfront"}));
}

TEST(MachinePattern, ARangeNamesEveryArchitectureWithoutChangedPolicies) {
  EXPECT_TRUE(matches("live:>=6.2", kLive618));
  EXPECT_TRUE(matches("model:>=6.1", kModel61));
  EXPECT_TRUE(matches("model:>=6.1", kModel612));
  EXPECT_TRUE(matches("model:>=6.1", kModelArm68));
  EXPECT_FALSE(matches("model:>=6.1", kModelArm68WriteFirst));
  EXPECT_FALSE(matches("model:>=6.9", kModelArm68));
  EXPECT_TRUE(matches("model:arm64/>=6.8", kModelArm68));
  EXPECT_FALSE(matches("model:arm64/>=6.8", kModel612));
  EXPECT_TRUE(matches("live:<6.19", kLive618));
  EXPECT_FALSE(matches("live:<6.18", kLive618));
  EXPECT_TRUE(matches("model:<6.10", kModelArm68));
  EXPECT_FALSE(matches("model:<6.10", kModel612));
}

TEST(MachinePattern, AMachineOfUnknownVersionIsInNoRange) {
  EXPECT_FALSE(matches("vm:>=1.0", kVmUnknown));
  EXPECT_FALSE(matches("vm:<99", kVmUnknown));
  EXPECT_FALSE(matches("vm:6.12", kVmUnknown));
}

TEST(MachinePattern, ItsTextIsWhatWasWritten) {
  for (const std::string_view text :
       {"model", "live", "vm", "vm:6.12", "model:6.1", "model:arm64/6.8", "model:5.10+upgrade=page-count", "live:>=6.2",
        "model:>=6.1", "vm:arm64/6.12", "model:arm64/<6.13", "model:x86-64/6.1", "model:arm64", "vm:6.12.117",
        "model:6.8+rmw=write-first+exec-only=epan"}) {
    EXPECT_EQ(pattern(text).text(), text);
  }
}

TEST(MachinePattern, WhatIsNoneSaysWhatWasExpected) {
  const auto refused = [](std::string_view text) {
    std::string expected;
    EXPECT_FALSE(parse_machine_pattern(text, expected)) << text;
    return expected;
  };
  for (const std::string_view text : {"", "kvm", "Model", "models:6.1", ":6.1"}) {
    EXPECT_TRUE(refused(text).starts_with("a machine: model, live or vm")) << text;
  }
  for (const std::string_view text :
       {"model:", "model:abc", "model:6.", "model:.6", "model:6..1", "model:>6.1", "model:>=", "model:arm65/6.1",
        "model:arm64/", "model:6.1/arm64", "vm:path/to/bzImage"}) {
    EXPECT_TRUE(refused(text).starts_with("a kernel version such as 6.12")) << text;
  }
  for (const std::string_view text : {"model:6.1+", "model:6.1+x", "model:6.1+x=", "model:6.1+=y", "model:6.1+a=b+",
                                      "model:6.1++a=b", "model:6.1+a=b=c"}) {
    EXPECT_TRUE(refused(text).starts_with("policies such as")) << text;
  }
  EXPECT_EQ(refused("live:6.1+upgrade=exclusive"), "no policies: only a model has them");
}

TEST(VersionAtLeast, ComparesNumberByNumber) {
  EXPECT_TRUE(version_at_least("6.12", "6.2"));
  EXPECT_FALSE(version_at_least("6.2", "6.12"));
  EXPECT_TRUE(version_at_least("6.12", "6.12"));
  EXPECT_TRUE(version_at_least("6.12.117", "6.12"));
  EXPECT_TRUE(version_at_least("7.3", "6.18"));
  EXPECT_FALSE(version_at_least("5.19", "6.0"));
  EXPECT_TRUE(version_at_least("6.10", "6.9.9"));
  EXPECT_TRUE(version_at_least("6.1.0-9-amd64", "6.1"));
  EXPECT_FALSE(version_at_least("", "6.1"));
}

}  // namespace
}  // namespace faultline::program
