#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/prices.h"
#include "machine/file_calls.h"
#include "machine/machine.h"
#include "mm/address_space.h"
#include "run/kernel.h"

namespace faultline::machine {

/// The Kernel that the executor drives when a model is the machine: one process's address space. Threads run one after
/// the other, as nothing here depends on time.
class ModelKernel {
 public:
  static constexpr run::Counting kCounting = run::Counting::is_free;
  static constexpr std::uint64_t kMostAccesses = 1 << 14;

  /// `observer` and `prices` may be null; without prices nothing is predicted. Everything referred to outlives this
  /// object.
  ModelKernel(std::unique_ptr<mm::AddressSpace> space, CheckInvariants check_invariants, mm::Observer* observer,
              cost::Prices* prices = nullptr);

  std::optional<std::string> unsupported(const run::CallRequest& call) const;
  run::CallOutcome call(const run::CallRequest& call);
  std::optional<std::string> unsupported(const run::AccessRequest&) const { return std::nullopt; }
  run::AccessOutcome access(const run::AccessRequest& access);
  run::AccessOutcome place_code(Addr addr);

  void settle() const {}
  Counters counters() const;
  /// All but what takes a second processor.
  CounterSet known() const { return CounterSet().set().reset(std::to_underlying(Counter::ipis)); }
  run::Metric metric() const { return prices_ == nullptr ? run::Metric::none : run::Metric::predicted; }

  run::Shape shape(Range range) const;
  run::ProbeAnswer vmas(std::optional<Range> range) const;
  run::ProbeAnswer resident(Range range) const { return space_->state(range).present; }
  run::ProbeAnswer huge(Range range) const { return space_->state(range).huge; }
  run::ProbeAnswer perm(Addr addr) const;
  run::ProbeAnswer value(Addr addr) const { return space_->peek(addr); }
  run::ProbeAnswer state(Range range) const;
  run::ProbeAnswer vm_flags(Addr addr) const;
  run::ProbeAnswer flags(Range range) const;
  run::ProbeAnswer soft_dirty(Range range) const;
  run::ProbeAnswer uffd_wp(Range range) const;
  run::ProbeAnswer named(Addr addr, std::string_view name) const { return space_->vma_name(addr) == name ? 1 : 0; }
  run::ProbeAnswer pkey(Addr addr) const;
  run::ProbeAnswer max_map_count() const { return space_->tunables().max_map_count; }

  run::KernelFailure child(std::string_view name, const std::function<void(ModelKernel&)>& body);
  bool exit_child(std::string_view name);
  run::KernelFailure threads(std::uint64_t count, const std::function<void(ModelKernel&, std::uint64_t)>& body);

  std::optional<std::string> broken() const;

 private:
  struct LivingChild {
    std::string name;
    std::unique_ptr<ModelKernel> kernel;
  };

  /// Pages of the range's VMAs for which `holds(page)`.
  template <class Holds>
  std::uint64_t count_pages(Range range, Holds holds) const;
  run::CallOutcome perform(const run::CallRequest& call);
  std::optional<Signal> access_all(const run::AccessRequest& access);
  /// Fills in what the operation is predicted to take, from what it counted.
  template <class Outcome>
  void predict(Outcome& outcome, std::optional<cost::Operation> operation, const Counters& before) const;
  std::optional<Signal> access_once(const run::AccessRequest& access, Addr addr);

  std::unique_ptr<mm::AddressSpace> space_;
  CheckInvariants check_invariants_;
  mm::Observer* observer_;
  cost::Prices* prices_;
  std::uint64_t accesses_ = 0;  // made by the program
  FileCalls files_;
  std::vector<LivingChild> children_;
  bool tracks_soft_dirty_ = false;  // since clear_refs(4)
};

}  // namespace faultline::machine
