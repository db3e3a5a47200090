#pragma once

#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/style.h"

/// The lines under a table.
namespace faultline::report {

struct Footnote {
  std::string text;
  Emphasis emphasis = Emphasis::none;
};

/// "line 9 not compared: 12 VMAs on model:6.12 against 1,000 on live", rows with the same reason together.
std::vector<Footnote> refusals(const std::vector<AlignedRow>& rows);

/// "shape before lines 9, 10: 1 VMA, 32 pages present on both", and where machines leave different pages writable,
/// "writable after line 10: 0 of 32 on model:5.10, 32 of 32 on model:6.12".
std::vector<Footnote> shapes(const Comparison& comparison, const std::vector<AlignedRow>& rows);

/// How many expectations held; the failed ones in full.
std::vector<Footnote> checks(const Comparison& comparison);

/// How each run ended that was not completed, and the machines' notes.
std::vector<Footnote> endings(const Comparison& comparison);

/// How a run ended, in words: "killed by SIGSEGV SEGV_MAPERR at 0x1000 at line 12".
std::string ending_text(const run::Report& report);

}  // namespace faultline::report
