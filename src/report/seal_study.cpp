#include "report/seal_study.h"

#include <algorithm>

#include "mm/address_space.h"
#include "mm/seal.h"
#include "report/recording_tables.h"

namespace faultline::report {

using record::Call;

SealStudy::SealStudy(const record::Import& recording, record::Symbols& symbols, std::uint64_t last)
    : recording_(recording), symbols_(symbols), last_(last) {}

void SealStudy::begin(const run::Step& step) {
  step_ = &step;
  discards_ = false;
}

void SealStudy::before(const mm::AddressSpace& space) {
  const program::SystemCall* call = step_ == nullptr ? nullptr : call_of(*step_->statement);
  if (call == nullptr || call->sys != program::Sys::madvise || step_->arguments.size() < 3) return;
  const auto range = named_range(*step_);
  if (!range) return;
  const auto advice = static_cast<Advice>(step_->arguments[2]);
  space.for_each_vma(*range, [&](const mm::Vma& vma) {
    discards_ = discards_ || mm::seal_refuses(space.profile(), space.rights(), vma, advice);
  });
}

void SealStudy::after(const mm::AddressSpace& space) {
  if (step_ != nullptr && step_->process == 0 && step_->number == last_) space_ = &space;
}

bool SealStudy::would_be_refused(const run::Step& step, const record::Origin& origin) const {
  if (is_touch(*step.statement, origin)) return false;
  if (!origin.is_call) return true;  // it was mapped
  switch (origin.call) {
    case Call::mmap:
    case Call::munmap:
    case Call::mprotect:
    case Call::pkey_mprotect:
    case Call::mremap:
    case Call::brk:
      return true;
    case Call::madvise:
      return discards_;
    default:
      return false;
  }
}

void SealStudy::end(const run::Step& step, const run::StepOutcome& outcome) {
  step_ = nullptr;
  const record::Origin* origin = origin_of(recording_, *step.statement);
  if (origin == nullptr) return;
  if (origin->is_call) ++memory_calls_;
  if (step.process != 0) return;
  if (!outcome.error && would_be_refused(step, *origin)) {
    const PageChange change{step.number, step.statement, mm::Rule::none};
    calls_[step.number] = memory_calls_;
    if (const auto moved = moved_to(step, outcome)) history_.record(*moved, change);
    if (const auto range = named_range(step)) history_.record(*range, change);
  }
  if (space_ != nullptr) look(*space_);
  space_ = nullptr;
}

void SealStudy::look(const mm::AddressSpace& space) {
  space.for_each_vma({Addr{0}, Addr{~std::uint64_t{0}}}, [&](const mm::Vma& vma) {
    ++vmas_;
    pages_ += vma.pages();
    Moment moment;
    moment.permission = protection_text(mm::prot_of(vma.flags));
    if (const auto change = history_.newest_change(vma.range())) {
      moment.call = calls_.at(change->step);
      if (const auto* origin = origin_of(recording_, *change->statement)) moment.last = call_site(*origin, symbols_);
    }
    Sealable& sealable = moments_[moment];
    ++sealable.vmas;
    sealable.pages += vma.pages();
  });
}

std::uint64_t SealStudy::calls_until(double part) const {
  std::uint64_t vmas = 0;
  for (const auto& [moment, sealable] : moments_) {
    vmas += sealable.vmas;
    if (static_cast<double>(vmas) >= part * static_cast<double>(vmas_)) return moment.call;
  }
  return 0;
}

Table SealStudy::by_call() const {
  using Key = std::pair<CallSite, std::string>;  // and permission
  struct Sum {
    std::uint64_t call = 0;
    Sealable sealable;
  };
  std::map<Key, Sum> sums;
  for (const auto& [moment, sealable] : moments_) {
    Sum& sum = sums[{moment.last, moment.permission}];
    sum.call = std::max(sum.call, moment.call);
    sum.sealable.vmas += sealable.vmas;
    sum.sealable.pages += sealable.pages;
  }
  std::vector<std::pair<Key, Sum>> order(sums.begin(), sums.end());
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& entry) { return entry.second.sealable.vmas; });
  Table table{{{"", "VMAs", Align::right},
               {"", "pages", Align::right},
               {"", "permission"},
               {"", "after call", Align::right},
               {"", "last call"},
               {"", "site"}},
              {}};
  for (const auto& [key, sum] : order) {
    table.rows.push_back({sum.sealable.vmas, sum.sealable.pages, key.second, sum.call, key.first.call, key.first.site});
  }
  return table;
}

Table SealStudy::over_time() const {
  Table table{{{"after_call", ""},
               {"vmas", ""},
               {"pages", ""},
               {"permission", ""},
               {"vmas_until_then", ""},
               {"pages_until_then", ""},
               {"call", ""},
               {"site", ""}},
              {}};
  Sealable all;
  for (const auto& [moment, sealable] : moments_) {
    all.vmas += sealable.vmas;
    all.pages += sealable.pages;
    table.rows.push_back({moment.call, sealable.vmas, sealable.pages, moment.permission, all.vmas, all.pages,
                          moment.last.call, moment.last.site});
  }
  return table;
}

}  // namespace faultline::report
