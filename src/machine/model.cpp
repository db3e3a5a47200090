#include "machine/model.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "cost/built_in.h"
#include "machine/model_kernel.h"
#include "run/executor.h"
#include "run/params.h"
#include "run/play.h"

namespace faultline::machine {
namespace {

static_assert(run::Kernel<ModelKernel>);

program::MachineId id_of(const mm::Profile& profile) {
  const std::size_t plus = profile.name.find('+');
  return {"model", std::string(arch::arch_name(profile.arch)), profile.version,
          plus == std::string::npos ? "" : profile.name.substr(plus)};
}

std::string name_of(const mm::Profile& profile) { return "model:" + profile.name; }

std::string kernel_of(const mm::Profile& profile) {
  const program::MachineId id = id_of(profile);
  std::string text = "model of Linux " + profile.version + " (" + id.arch + ")";
  if (!id.policies.empty()) text += " with " + id.policies.substr(1);
  return text;
}

/// The costs of the kernel that the profile began as: the newest given, else those built in.
std::optional<cost::Prices> prices_of(const mm::Profile& profile, const Settings& settings) {
  const std::string kernel = (profile.arch == arch::Arch::arm64 ? "arm64/" : "") + profile.version;
  std::vector<cost::CostTable> tables = settings.costs;
  std::ranges::copy(cost::built_in_tables(), std::back_inserter(tables));
  const auto found = std::ranges::find(tables, kernel, &cost::CostTable::profile);
  if (found == tables.end()) return std::nullopt;
  return cost::Prices(*found, tables);
}

/// Zeroed memory for a ledger, which mostly stays untouched.
class LedgerMemory {
 public:
  explicit LedgerMemory(std::size_t bytes)
      : bytes_(static_cast<std::byte*>(::operator new(bytes, kAlignment))), size_(bytes) {}
  std::span<std::byte> span() { return {bytes_.get(), size_}; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, kAlignment); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_;
};

struct Hooks {
  run::StepListener* steps = nullptr;
  mm::Observer* decisions = nullptr;
};

run::Report run_on_model(const mm::Profile& profile, const program::Program& program, const Settings& settings,
                         Hooks hooks) {
  run::Report report;
  if (const auto unknown = run::unknown_param(program, settings.params)) {
    report.ending = run::Ending::misuse;
    report.detail = "the program has no param " + *unknown;
  } else {
    const program::MachineId machine = id_of(profile);
    const run::Plan plan = run::make_plan(program);
    LedgerMemory memory(run::Ledger::bytes(plan));
    run::Ledger ledger(plan, memory.span());
    run::Context context{program,
                         plan,
                         ledger,
                         machine,
                         settings.params,
                         hooks.steps,
                         std::chrono::steady_clock::now() + settings.time_limit,
                         settings.stop};
    mm::System system(profile, settings.tunables);
    std::optional<cost::Prices> prices = prices_of(profile, settings);
    auto space = std::make_unique<mm::AddressSpace>(system);
    // What is predicted, or explained, depends on it.
    if (prices || hooks.steps != nullptr) space->follow_tree();
    ModelKernel kernel(std::move(space), settings.check_invariants, hooks.decisions, prices ? &*prices : nullptr);
    run::Executor<ModelKernel>(context, kernel).run();
    report = ledger.report(plan);
    if (prices) std::ranges::move(prices->notes(), std::back_inserter(report.notes));
  }
  report.machine = name_of(profile);
  report.kernel = kernel_of(profile);
  return report;
}

run::CaseRecord play_on_model(const mm::Profile& profile, const run::Case& played) {
  run::CaseRecord records(played.steps.size());
  mm::System system(profile);
  ModelKernel kernel(std::make_unique<mm::AddressSpace>(system), CheckInvariants::never, nullptr);
  const auto sink = [&](ModelKernel&, std::size_t index, const run::StepRecord& record) { records[index] = record; };
  run::CasePlayer<ModelKernel, decltype(sink)>(played, sink).play(kernel);
  return records;
}

class Model final : public Machine {
 public:
  explicit Model(mm::Profile profile) : profile_(std::move(profile)), id_(id_of(profile_)) {}

  const program::MachineId& id() const override { return id_; }
  std::string name() const override { return name_of(profile_); }
  std::string kernel() const override { return kernel_of(profile_); }
  run::Report run(const program::Program& program, const Settings& settings) override {
    return run_on_model(profile_, program, settings, {});
  }
  std::expected<std::vector<run::CaseRecord>, std::string> play(const std::vector<run::Case>& cases) override {
    std::vector<run::CaseRecord> records;
    for (const run::Case& one : cases) records.push_back(play_on_model(profile_, one));
    return records;
  }

 private:
  mm::Profile profile_;
  program::MachineId id_;
};

}  // namespace

std::unique_ptr<Machine> make_model(mm::Profile profile) { return std::make_unique<Model>(std::move(profile)); }

run::Report explain(const mm::Profile& profile, const program::Program& program, const Settings& settings,
                    run::StepListener& steps, mm::Observer& decisions) {
  return run_on_model(profile, program, settings, {&steps, &decisions});
}

}  // namespace faultline::machine
