#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "mm/trace.h"
#include "record/import.h"
#include "record/symbols.h"
#include "report/page_history.h"
#include "report/recorded_call.h"
#include "report/table.h"
#include "run/step.h"

namespace faultline::report {

/// From when on nothing happens to a mapping any more that a seal would refuse (mseal(2)), for the VMAs that a process
/// ends with.
class SealStudy : public run::StepListener, public mm::Observer {
 public:
  /// `last` is the process's last step.
  SealStudy(const record::Import& recording, record::Symbols& symbols, std::uint64_t last);

  void begin(const run::Step& step) override;
  void end(const run::Step& step, const run::StepOutcome& outcome) override;
  void on(const mm::Event& /*event*/) override {}
  void before(const mm::AddressSpace& space) override;
  void after(const mm::AddressSpace& space) override;

  std::uint64_t vmas() const { return vmas_; }
  std::uint64_t pages() const { return pages_; }

  /// Memory calls after which at least that part of the VMAs that there are at the end could be sealed.
  std::uint64_t calls_until(double part) const;

  /// By the call that was the last that a seal would have refused: after how many memory calls the last of them.
  Table by_call() const;
  /// In the order in which they can be sealed: after how many memory calls, the last call that a seal would have
  /// refused, how much that is, and how much there is with all that came before.
  Table over_time() const;

 private:
  struct Moment {
    std::uint64_t call = 0;  // memory calls until then
    CallSite last;
    std::string permission;
    auto operator<=>(const Moment&) const = default;
  };
  struct Sealable {
    std::uint64_t vmas = 0;
    std::uint64_t pages = 0;
  };
  bool would_be_refused(const run::Step& step, const record::Origin& origin) const;
  void look(const mm::AddressSpace& space);

  const record::Import& recording_;
  record::Symbols& symbols_;
  std::uint64_t last_;
  PageHistory history_;
  std::map<std::uint64_t, std::uint64_t> calls_;  // memory calls until a step, for those in the history
  std::uint64_t memory_calls_ = 0;
  const run::Step* step_ = nullptr;
  bool discards_ = false;                    // the current step is advice that a seal would refuse
  const mm::AddressSpace* space_ = nullptr;  // during the last step
  std::uint64_t vmas_ = 0;
  std::uint64_t pages_ = 0;
  std::map<Moment, Sealable> moments_;
};

}  // namespace faultline::report
