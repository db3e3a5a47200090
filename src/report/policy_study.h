#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mm/trace.h"
#include "record/import.h"
#include "record/policy.h"
#include "record/symbols.h"
#include "report/page_history.h"
#include "report/recorded_call.h"
#include "run/step.h"

namespace faultline::report {

/// How a recorded call or access ended on one run: "EPERM", "SIGSEGV". By the line of its origin; those that did what
/// was asked are not in it.
using Endings = std::map<std::uint32_t, std::string>;

/// A call or access that would end otherwise, and where: "mprotect", "load".
struct Refusal {
  std::string what;
  std::string site;
  std::string ending;
  auto operator<=>(const Refusal&) const = default;
};
struct RefusalFigures {
  std::uint64_t times = 0;
  /// What ended otherwise later on pages that the refused calls named, not because the policy refused it too: what a
  /// program would have met, had it gone on.
  std::uint64_t later = 0;
};

struct PolicyFigures {
  Endings endings;
  std::map<Refusal, RefusalFigures> refusals;
  std::uint64_t most_vmas = 0;
  std::uint64_t faults = 0;   // ru_minflt
  std::uint64_t dropped = 0;  // pages that lost what they held under a guard, where mprotect kept it
  std::uint64_t missed = 0;   // of those, read or changed afterwards before anything was stored
};

/// Watches a run under a policy, and compares it with the one without.
class PolicyStudy : public run::StepListener, public mm::Observer {
 public:
  /// `usual` and `refused` are empty for the run without a policy.
  PolicyStudy(const record::Import& recording, record::Symbols& symbols, const Endings& usual,
              const std::map<std::uint32_t, Range>& refused);

  void begin(const run::Step& step) override;
  void end(const run::Step& step, const run::StepOutcome& outcome) override;
  void on(const mm::Event& event) override;
  void before(const mm::AddressSpace& space) override;
  void after(const mm::AddressSpace& space) override;
  void forked(std::uint32_t parent, std::uint32_t child) override { processes_[child] = processes_[parent]; }

  const PolicyFigures& figures() const { return figures_; }

 private:
  struct Process {
    PageHistory refused;         // what refused calls named
    std::set<Addr> under_guard;  // pages whose content a guard dropped
  };
  void judge(const run::Step& step, const record::Origin& origin, const std::string& ending);
  void touch(const run::Step& step, const record::Origin& origin);

  const record::Import& recording_;
  record::Symbols& symbols_;
  const Endings& usual_;
  const std::map<std::uint32_t, Range>& refused_;
  PolicyFigures figures_;
  std::map<std::uint32_t, Process> processes_;
  std::map<std::uint64_t, Refusal> refusal_of_;  // by step
  const run::Step* step_ = nullptr;
  mm::Rule rule_ = mm::Rule::none;  // that refused the current step
};

}  // namespace faultline::report
