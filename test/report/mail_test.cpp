// Tables for a mail.
#include "report/mail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "reports.h"

namespace faultline::report {
namespace {

Comparison of_kernels(std::size_t kernels) {
  Comparison comparison{
      "programs/cycle.fl", "What does it cost to take access away – and to give it back?", {}, {}, {}};
  for (std::size_t i = 0; i < kernels; ++i) {
    run::Report report;
    report.machine = "vm:6." + std::to_string(i);
    report.kernel = "Linux 6." + std::to_string(i) + ".0 (x86-64)";
    report.rows = {exact(10, "mprotect(a, size, PROT_READ|PROT_WRITE|PROT_EXEC) = 0", 4731 + 1000 * double(i)),
                   exact(12, "store(a, size)", 31'893, 32)};
    comparison.reports.push_back(report);
  }
  return comparison;
}

TEST(Mail, IsAsciiOfAtMost75Columns) {
  for (const std::size_t kernels : {1U, 2U, 3U, 9U}) {
    std::istringstream lines(
        mail_text(of_kernels(kernels), Counted::differences,
                  "faultline run programs/cycle.fl --on vm:6.0 --on vm:6.1 --on vm:6.2 --format mail"));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 75U) << line;
      EXPECT_TRUE(std::ranges::all_of(line, [](unsigned char c) { return c >= ' ' && c < 0x7f; })) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(Mail, NamesKernelsFiguresAndTheCommand) {
  const std::string text = mail_text(of_kernels(2), Counted::differences, "faultline run cycle.fl");
  EXPECT_TRUE(text.contains("vm:6.1: Linux 6.1.0 (x86-64)\n")) << text;
  EXPECT_TRUE(text.contains("4,731")) << text;
  EXPECT_TRUE(text.contains("+21.1%")) << text;
  EXPECT_TRUE(text.contains("instructions of the kernel per call")) << text;
  EXPECT_TRUE(text.ends_with("$ faultline run cycle.fl\n")) << text;
}

TEST(Mail, LeavesOutWhatOnlyPreparesWhereSomethingIsMeasured) {
  Comparison comparison = of_kernels(1);
  comparison.reports[0].rows[1].measure = "cycle";
  run::Row block = exact(0, "cycle", 31'893);
  block.kind = run::RowKind::measure;
  comparison.reports[0].rows.push_back(block);
  const std::string text = mail_text(comparison, Counted::differences, "");
  EXPECT_FALSE(text.contains("mprotect")) << text;
  EXPECT_TRUE(text.contains("store(a, size)")) << text;
}

}  // namespace
}  // namespace faultline::report
