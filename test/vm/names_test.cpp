// What kernels are called, on the command line and by themselves.
#include <gtest/gtest.h>

#include "machine/vm/kernel_image.h"
#include "machine/vm/kernel_store.h"
#include "machine/vm/vm_name.h"

namespace faultline::machine::vm {
namespace {

TEST(VmName, IsAKernelAndOptions) {
  const auto name = VmName::parse("arm64/6.12,cpus=2,memory=1024");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->kernel, "arm64/6.12");
  EXPECT_EQ(name->cpus, 2U);
  EXPECT_EQ(name->memory_mb, 1024U);
}

TEST(VmName, SaysWhatWasExpected) {
  EXPECT_EQ(VmName::parse("6.12,cpus=9").error(), "cpus=9: expected a number from 1 to 8");
  EXPECT_EQ(VmName::parse("6.12,cpus=").error(), "cpus=: expected a number from 1 to 8");
  EXPECT_EQ(VmName::parse("6.12,ram=4").error(), "\"ram=4\": expected cpus=N, memory=MIB or overcommit=MODE");
  EXPECT_EQ(VmName::parse("6.12,overcommit=never")->overcommit, mm::Overcommit::never);
  EXPECT_EQ(VmName::parse("6.12")->overcommit, mm::Overcommit::heuristic);
  EXPECT_EQ(VmName::parse("6.12,overcommit=2").error(), "overcommit=2: expected overcommit=heuristic, always or never");
  EXPECT_FALSE(VmName::parse("").has_value());
  EXPECT_FALSE(VmName::parse("6.12,").has_value());
}

TEST(KernelName, HasAnArchitectureInFront) {
  EXPECT_EQ(KernelName::parse("arm64/6.12").arch, arch::Arch::arm64);
  EXPECT_EQ(KernelName::parse("6.12").arch, arch::Arch::x86_64);
  EXPECT_EQ(KernelName::parse("arm64/6.12").text(), "arm64/6.12");
  EXPECT_EQ(KernelName::parse("x86-64/6.12").text(), "6.12");
}

TEST(KernelName, OfASeriesCoversItsVersionsAndNoOthers) {
  EXPECT_TRUE(is_of_series("6.1.176", "6.1"));
  EXPECT_TRUE(is_of_series("6.1", "6.1"));
  EXPECT_FALSE(is_of_series("6.12.117", "6.1"));
  EXPECT_FALSE(is_of_series("6.1.176", ""));
}

TEST(VersionInBanner, IsDebiansWhereDebianGivesOne) {
  // As the images of Debian 5.10.223-1 and 6.12.117-1 have them.
  EXPECT_EQ(
      version_in_banner("5.10.0-32-cloud-amd64 (debian-kernel@lists.debian.org) #1 SMP Debian 5.10.223-1 (2024-08-10)"),
      "5.10.223");
  EXPECT_EQ(version_in_banner("6.12.117+deb13-cloud-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_DYNAMIC "
                              "Debian 6.12.117-1 (2026-11-12)"),
            "6.12.117");
  EXPECT_EQ(version_in_banner("6.18.0-rc3-g1234 (me@host) #1 SMP"), "6.18.0");
  EXPECT_EQ(version_in_banner("%s (%s) %s"), "");
}

}  // namespace
}  // namespace faultline::machine::vm
