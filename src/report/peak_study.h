#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "mm/trace.h"
#include "report/call_history.h"
#include "report/table.h"
#include "run/step.h"

namespace faultline::report {

/// The VMAs of a process at one step, by who made them, and why adjacent ones of equal permission are not one.
class PeakStudy : public run::StepListener, public mm::Observer {
 public:
  /// `step` is the one after which they are looked at.
  PeakStudy(const record::Import& recording, record::Symbols& symbols, std::uint64_t step);

  void begin(const run::Step& step) override;
  void end(const run::Step& step, const run::StepOutcome& outcome) override;
  void on(const mm::Event& /*event*/) override {}
  void after(const mm::AddressSpace& space) override;

  std::uint64_t vmas() const { return vmas_; }
  std::uint64_t adjacent() const { return adjacent_; }  // pairs without a gap between them
  std::uint64_t alike() const { return alike_; }        // of those, of equal permission

  /// VMAs, pages and pages present by permission and the call that named their first page last.
  Table mappings() const;
  /// Pairs by permission, the attribute that keeps them apart, and the calls that named the pages on either side of the
  /// border last.
  Table merges() const;

 private:
  struct Maker {
    std::string permission;
    CallSite by;
    auto operator<=>(const Maker&) const = default;
  };
  struct Made {
    std::uint64_t vmas = 0;
    std::uint64_t pages = 0;
    std::uint64_t present = 0;
  };
  struct Pair {
    std::string permission;
    std::string reason;
    CallSite below;
    CallSite above;
    auto operator<=>(const Pair&) const = default;
  };

  void look(const mm::AddressSpace& space);

  CallHistory history_;
  std::uint64_t last_;
  const run::Step* step_ = nullptr;
  const mm::AddressSpace* space_ = nullptr;  // during the step to look at
  std::uint64_t vmas_ = 0;
  std::uint64_t adjacent_ = 0;
  std::uint64_t alike_ = 0;
  std::map<Maker, Made> makers_;
  std::map<Pair, std::uint64_t> pairs_;
};

}  // namespace faultline::report
