// The flags of a mapping as smaps shows them.
#include "base/vm_flags.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

TEST(VmFlags, AreASetWhoseWordsComeInAnyOrder) {
  EXPECT_EQ(vm_flags_in(" rd wr mr mw me ac \n"), vm_flags_in("ac me mw mr wr rd"));
  EXPECT_NE(vm_flags_in("rd wr"), vm_flags_in("rd"));
  EXPECT_EQ(vm_flags_in(""), 0U);
}

TEST(VmFlags, ArePrintedInTheKernelsOrder) {
  EXPECT_EQ(vm_flags_text(vm_flags_in("sl lo rd wr")), "rd wr lo sl");
  EXPECT_EQ(vm_flags_text(0), "");
}

TEST(VmFlags, ThatHaveNoLettersHereAreOneThatIsOther) {
  EXPECT_EQ(vm_flags_in("zz"), kOtherVmFlag);
  EXPECT_EQ(vm_flags_text(vm_flags_in("rd ??")), "rd ??");
}

}  // namespace
}  // namespace faultline
