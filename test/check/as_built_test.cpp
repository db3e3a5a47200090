#include "check/as_built.h"

#include <gtest/gtest.h>

namespace faultline::check {
namespace {

TEST(AsBuilt, TakesOverWhatAMachineShowsOfItsKernelsConfiguration) {
  for (const char* name : {"6.18", "6.18+soft-dirty=absent", "6.18+pkeys=absent", "6.18+zero-page=not-on-reads",
                           "6.18+zero-page=forbidden", "arm64/6.18+exec-only=epan"}) {
    SCOPED_TRACE(name);
    const mm::Profile own = *mm::parse_profile(name);
    const auto machine = machine::make_machine(std::string("model:") + name);
    ASSERT_TRUE(machine);
    const mm::Profile built =
        as_built(*mm::parse_profile(own.arch == arch::Arch::arm64 ? "arm64/6.18" : "6.18"), **machine);
    EXPECT_EQ(built.soft_dirty, own.soft_dirty);
    EXPECT_EQ(built.pkeys, own.pkeys);
    EXPECT_EQ(built.zero_page, own.zero_page);
    EXPECT_EQ(built.exec_only, own.exec_only);
  }
}

}  // namespace
}  // namespace faultline::check
