#pragma once

#include "report/recording_study.h"
#include "report/table.h"

/// What a study found, as tables, largest first.
namespace faultline::report {

/// Memory calls by site: how many and on what, what they did, and the faults that they cause later.
Table call_table(const StudyFigures& figures);
/// Faults by the place that took them.
Table fault_table(const StudyFigures& figures);
/// The number of VMAs after each call that changed it.
Table vma_table(const StudyFigures& figures);
/// Changes of protection by length of the range, pages present, from what to what, and site.
Table protection_table(const StudyFigures& figures);

/// "12 first reads, 3 copies": the kinds of faults, those that there are.
std::string fault_kinds(const Counters& counted);

/// "rw-"; "mixed" where there is more than one.
std::string protection_text(std::optional<Prot> prot);

}  // namespace faultline::report
