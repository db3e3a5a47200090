#include "report/peak_study.h"

#include <algorithm>
#include <vector>

#include "mm/address_space.h"
#include "report/recording_tables.h"
#include "report/vma_map.h"

namespace faultline::report {
namespace {

std::string permission_text(const mm::Vma& vma) {
  return protection_text(mm::prot_of(vma.flags)) + (vma.is(mm::VmFlags::may_share) ? "s" : "p");
}

}  // namespace

PeakStudy::PeakStudy(const record::Import& recording, record::Symbols& symbols, std::uint64_t step)
    : history_(recording, symbols), last_(step) {}

void PeakStudy::begin(const run::Step& step) { step_ = &step; }

// The address space is shown before the step has ended, and the history knows the step only then.
void PeakStudy::after(const mm::AddressSpace& space) {
  if (step_ != nullptr && step_->process == 0 && step_->number == last_) space_ = &space;
}

void PeakStudy::end(const run::Step& step, const run::StepOutcome& outcome) {
  step_ = nullptr;
  if (step.process == 0 && step.number <= last_) history_.end(step, outcome);
  if (space_ != nullptr) look(*space_);
  space_ = nullptr;
}

void PeakStudy::look(const mm::AddressSpace& space) {
  std::vector<mm::Vma> all;
  space.for_each_vma({Addr{0}, Addr{~std::uint64_t{0}}}, [&](const mm::Vma& vma) { all.push_back(vma); });
  vmas_ = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const mm::Vma& vma = all[i];
    Made& made = makers_[{permission_text(vma), history_.last_call(vma.start)}];
    ++made.vmas;
    made.pages += vma.pages();
    made.present += space.state(vma.range()).present;
    if (i == 0 || all[i - 1].end != vma.start) continue;
    const mm::Vma& below = all[i - 1];
    ++adjacent_;
    if (permission_text(below) != permission_text(vma)) continue;
    ++alike_;
    ++pairs_[{permission_text(vma), apart_reason(space.profile(), below, vma),
              history_.last_call(below.end - kPageSize), history_.last_call(vma.start)}];
  }
}

Table PeakStudy::mappings() const {
  Table table{{{"vmas", "VMAs", Align::right},
               {"pages", "pages", Align::right},
               {"pages_present", "present", Align::right},
               {"permission", "permission"},
               {"call", "last call"},
               {"site", "site"}},
              {}};
  std::vector<std::pair<Maker, Made>> entries(makers_.begin(), makers_.end());
  std::ranges::stable_sort(entries, std::ranges::greater{}, [](const auto& entry) { return entry.second.vmas; });
  for (const auto& [maker, made] : entries) {
    table.rows.push_back({made.vmas, made.pages, made.present, maker.permission, maker.by.call, maker.by.site});
  }
  return table;
}

Table PeakStudy::merges() const {
  Table table{{{"pairs", "pairs", Align::right},
               {"permission", "permission"},
               {"reason", "not one VMA because"},
               {"below_call", "last call below"},
               {"below_site", "site"},
               {"above_call", "last call above"},
               {"above_site", "site"}},
              {}};
  std::vector<std::pair<Pair, std::uint64_t>> entries(pairs_.begin(), pairs_.end());
  std::ranges::stable_sort(entries, std::ranges::greater{}, [](const auto& entry) { return entry.second; });
  for (const auto& [pair, times] : entries) {
    table.rows.push_back(
        {times, pair.permission, pair.reason, pair.below.call, pair.below.site, pair.above.call, pair.above.site});
  }
  return table;
}

}  // namespace faultline::report
