// How numbers and words are written.
#include "report/format.h"

#include <gtest/gtest.h>

namespace faultline::report {
namespace {

TEST(Format, PutsACommaBetweenThousands) {
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1000), "1,000");
  EXPECT_EQ(thousands(1234567), "1,234,567");
  EXPECT_EQ(thousands(18446744073709551615u), "18,446,744,073,709,551,615");
}

TEST(Format, RoundsDecimalsAndWritesATrueMinusSign) {
  EXPECT_EQ(decimal(1234.56, 1), "1,234.6");
  EXPECT_EQ(decimal(-99.64, 1), "\u221299.6");
  EXPECT_EQ(decimal(999999.5, 0), "1,000,000");
}

TEST(Format, DoesNotWriteMinusZero) { EXPECT_EQ(decimal(-0.01, 1), "0.0"); }

TEST(Format, ShowsAFigurePerCallWholeOrWithDecimals) {
  EXPECT_EQ(per_call(32'000, 1000), "32");
  EXPECT_EQ(per_call(1, 2), "0.5");
  EXPECT_EQ(per_call(1, 3), "0.33");
  EXPECT_EQ(per_call(1, 1000), "<0.01");
  EXPECT_EQ(per_call(0, 1000), "0");
  EXPECT_EQ(per_call(4096 * 3, 3), "4,096");
}

TEST(Format, DoesNotRoundAFigureThatIsNearlyWholeToAWholeOne) { EXPECT_EQ(per_call(31'999, 1000), "32.0"); }

TEST(Format, AFigureOfNoCallsIsUnknown) { EXPECT_EQ(per_call(5, 0), "–"); }

TEST(Format, SignsEveryChange) {
  EXPECT_EQ(percent_change(7861.0 / 4731.0), "+66.2%");
  EXPECT_EQ(percent_change(135.0 / 31893.0), "\u221299.6%");
  EXPECT_EQ(percent_change(1), "0.0%");
  EXPECT_EQ(percent_change(21), "+2,000.0%");
}

TEST(Format, ShowsSmallSpreadsWithADecimal) {
  EXPECT_EQ(percent(0.032), "3%");
  EXPECT_EQ(percent(0.004), "0.4%");
  EXPECT_EQ(percent(1.5), "150%");
}

TEST(Format, CountsCharactersAndNotBytes) {
  EXPECT_EQ(width("±3%"), 3u);
  EXPECT_EQ(width("−99.6%"), 6u);
}

TEST(Format, MakesTextSafeForATerminal) {
  EXPECT_EQ(printable("a\033[31mb\n", 80), "a?[31mb?");
  EXPECT_EQ(printable("C1 \xc2\x9b!", 80), "C1 ?!");
  EXPECT_EQ(printable("broken \xff\xc3", 80), "broken ??");
  EXPECT_EQ(printable("größer", 80), "größer");
}

TEST(Format, CutsLongTextAtTheWidthGiven) {
  EXPECT_EQ(printable("12345", 5), "12345");
  EXPECT_EQ(printable("123456", 5), "1234…");
  EXPECT_EQ(printable("größer", 4), "grö…");
}

TEST(Format, AgreesNumberAndNoun) {
  EXPECT_EQ(plural(1, "VMA", "VMAs"), "1 VMA");
  EXPECT_EQ(plural(0, "VMA", "VMAs"), "0 VMAs");
  EXPECT_EQ(plural(1000, "VMA", "VMAs"), "1,000 VMAs");
}

}  // namespace
}  // namespace faultline::report
