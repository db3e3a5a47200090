#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/counters.h"
#include "base/flags.h"
#include "mm/trace.h"
#include "record/import.h"
#include "record/symbols.h"
#include "report/page_history.h"
#include "report/recorded_call.h"
#include "run/step.h"

namespace faultline::report {

struct CallFigures {
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
  std::uint64_t bytes = 0;    // of the ranges that they named
  std::uint64_t present = 0;  // pages in them when they were made
  Counters counted;
  /// Faults taken afterwards on pages that this call changed last; of copy-on-write, the fork.
  std::uint64_t later_faults = 0;
};

/// Accesses that fault, and where.
struct FaultSite {
  std::string access;
  std::string site;
  auto operator<=>(const FaultSite&) const = default;
};

/// One kind of change of protection: how long the range is and how much of it is present, both as the power of two that
/// they do not exceed, from what to what, and where.
struct ProtectionChange {
  std::uint64_t pages = 0;
  std::uint64_t present = 0;
  std::optional<Prot> before;  // nothing: more than one protection, or a hole
  Prot after = Prot::none;
  std::string site;
  auto operator<=>(const ProtectionChange&) const = default;
};
struct ProtectionFigures {
  std::uint64_t times = 0;
  std::uint64_t pages = 0;    // exactly, of all of them
  std::uint64_t present = 0;  // the same
  Counters counted;
};

/// An operation at a place, with the calls that led there.
struct Place {
  record::SiteIndex site = record::kNoSite;
  std::string_view operation;  // "mprotect", "store"
  auto operator<=>(const Place&) const = default;
};
struct PlaceFigures {
  std::uint64_t executions = 0;
  std::uint64_t faults = 0;   // ru_minflt
  std::uint64_t ptes = 0;     // changed
  std::uint64_t flushes = 0;  // of the TLB
};

/// VMAs of the process after each step that changed their number.
struct VmaPoint {
  std::uint64_t step = 0;
  std::uint64_t call = 0;  // memory calls until then
  std::uint64_t vmas = 0;
};

struct StudyFigures {
  Counters counted;  // of what was recorded, without the import's own statements
  std::map<CallSite, CallFigures> calls;
  std::map<FaultSite, Counters> faults;
  std::map<ProtectionChange, ProtectionFigures> protections;
  std::map<Place, PlaceFigures> places;  // where anything was done to page tables, and every call
  std::vector<VmaPoint> vmas;            // of the process itself, not of its children
  std::uint64_t memory_calls = 0;
  std::uint64_t last_step = 0;  // of the process itself that was recorded
  std::uint64_t limit = 0;      // vm.max_map_count
};

/// Watches a model run a recording, and sums up by site.
class RecordingStudy : public run::StepListener, public mm::Observer {
 public:
  RecordingStudy(const record::Import& recording, record::Symbols& symbols);

  void begin(const run::Step& step) override;
  void end(const run::Step& step, const run::StepOutcome& outcome) override;
  void forked(std::uint32_t parent, std::uint32_t child) override;
  void on(const mm::Event& event) override;
  void before(const mm::AddressSpace& space) override;
  void after(const mm::AddressSpace& space) override;

  const StudyFigures& figures() const { return figures_; }

 private:
  struct Process {
    PageHistory history;
    std::uint64_t fork_step = 0;  // the last before the newest fork
  };
  void end_call(const run::Step& step, const run::StepOutcome& outcome, const record::Origin& origin);
  void add_place(const run::StepOutcome& outcome, const record::Origin& origin);
  void blame(const Process& process, Addr page, bool shared);

  const record::Import& recording_;
  record::Symbols& symbols_;
  StudyFigures figures_;
  std::map<std::uint32_t, Process> processes_;
  const run::Step* step_ = nullptr;
  std::uint64_t last_step_ = 0;
  const record::Origin* origin_ = nullptr;
  std::vector<Addr> handled_;  // pages whose faults this step took
  std::vector<Addr> copied_;   // of those, of shared pages
  std::uint64_t present_ = 0;
  std::optional<ProtectionChange> change_;
};

}  // namespace faultline::report
