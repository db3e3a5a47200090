#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "mm/trace.h"
#include "report/page_history.h"
#include "run/step.h"

namespace faultline::report {

/// Answers "why did this page fault": what the entry was, and which step had left it so. Listens to every step of a
/// run, as the cause of a fault lies before it.
class WhyFault {
 public:
  void begin(const run::Step& step);
  void end(const run::Step& step, const run::StepOutcome& outcome);
  void forked(std::uint32_t parent, std::uint32_t child);
  void on(const mm::Event& event);

  /// A sentence about the page whose entry was told last, for what the hardware reports of it.
  std::string sentence(const mm::Event& hardware) const;

 private:
  struct Process {
    PageHistory pages;
    std::uint64_t forked_before_step = 0;
    std::optional<PageChange> cleared;  // the last clear_refs  // the last fork that it took part in; 0 for none
  };

  Process& current() { return processes_[process_]; }
  std::string since(Addr page) const;

  std::map<std::uint32_t, Process> processes_;
  std::uint32_t process_ = 0;
  PageChange now_;
  mm::EntryView entry_;
};

}  // namespace faultline::report
