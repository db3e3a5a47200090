// Laws of cost.
#include "report/law_table.h"

#include <gtest/gtest.h>

#include "reports.h"

namespace faultline::report {
namespace {

Comparison of_shape(std::uint64_t pages, std::uint64_t vmas, double figure) {
  run::Row row = exact(10, "mprotect(a, size, PROT_NONE)", figure);
  row.before.present = pages;
  row.before.vmas = vmas;
  run::Report report;
  report.machine = "vm:6.12";
  report.rows = {row};
  return {"sweep.fl", "", {}, {report}, {}};
}

TEST(LawTable, GivesTheCostOfAPageAndTheLargestResidual) {
  std::vector<Comparison> sweep;
  for (const std::uint64_t pages : {1U, 8U, 64U, 100U})
    sweep.push_back(of_shape(pages, 1, 3100 + 50.5 * double(pages)));
  const std::string text = law_table(sweep, Colour::off);
  EXPECT_TRUE(text.contains("3,100 + 50.5·pages  (residual ≤ 0.0)")) << text;
}

TEST(LawTable, TellsPagesAndVmasApart) {
  std::vector<Comparison> sweep;
  for (const std::uint64_t pages : {1U, 8U, 64U}) {
    for (const std::uint64_t vmas : {1U, 4U}) {
      sweep.push_back(of_shape(pages, vmas, 100 + 2 * double(pages) + 700 * double(vmas)));
    }
  }
  EXPECT_TRUE(law_table(sweep, Colour::off).contains("100.0 + 2.0·pages + 700.0·VMAs"))
      << law_table(sweep, Colour::off);
}

TEST(LawTable, DoesNotTellApartWhatGrowsTogether) {
  std::vector<Comparison> sweep;
  for (const std::uint64_t n : {1U, 2U, 3U, 4U}) sweep.push_back(of_shape(n, n, 100 + 10 * double(n)));
  EXPECT_TRUE(law_table(sweep, Colour::off).contains("10.0·VMAs (with their pages)")) << law_table(sweep, Colour::off);
}

TEST(LawTable, SaysWhatASweepHasToBe) {
  EXPECT_TRUE(
      law_table(std::vector{of_shape(1, 1, 10), of_shape(2, 1, 20)}, Colour::off).contains("at least three shapes"));
}

}  // namespace
}  // namespace faultline::report
