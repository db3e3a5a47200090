#include "report/dirty_study.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "mm/address_space.h"
#include "record/tracker.h"
#include "report/format.h"
#include "report/recorded_call.h"

namespace faultline::report {
namespace {

/// Private, writable, not shared with a file's cache: what a tracker watches.
bool is_watched(const mm::Vma& vma) {
  return vma.is(mm::VmFlags::write) && !vma.is(mm::VmFlags::may_share) && vma.object == nullptr &&
         !vma.is(mm::VmFlags::exec);
}

/// What the run costs as a whole, and on the way what there is to track at the begin of each interval.
class WholeRun : public run::StepListener, public mm::Observer {
 public:
  explicit WholeRun(const std::vector<const program::Statement*>& starts) {
    for (std::size_t i = 0; i < starts.size(); ++i) starts_.emplace(starts[i], i);
    ranges_.resize(starts.size());
  }

  void begin(const run::Step& step) override { step_ = &step; }
  void end(const run::Step& step, const run::StepOutcome& outcome) override {
    counted_ += outcome.counted;
    if (call_of(*step.statement) != nullptr) ++calls_;
    step_ = nullptr;
  }
  void on(const mm::Event& /*event*/) override {}
  void before(const mm::AddressSpace& space) override {
    const auto start = step_ == nullptr ? starts_.end() : starts_.find(step_->statement);
    if (start == starts_.end() || !ranges_[start->second].empty()) return;
    space.for_each_vma({Addr{0}, Addr{~std::uint64_t{0}}}, [&](const mm::Vma& vma) {
      if (is_watched(vma)) ranges_[start->second].push_back(vma.range());
    });
  }
  void after(const mm::AddressSpace& space) override {
    if (step_ != nullptr && step_->process == 0) most_vmas_ = std::max(most_vmas_, space.vma_count());
  }

  const std::vector<std::vector<Range>>& ranges() const { return ranges_; }
  const Counters& counted() const { return counted_; }
  std::uint64_t calls() const { return calls_; }
  std::uint64_t most_vmas() const { return most_vmas_; }

 private:
  std::map<const program::Statement*, std::size_t> starts_;
  std::vector<std::vector<Range>> ranges_;
  Counters counted_;
  std::uint64_t calls_ = 0;
  std::uint64_t most_vmas_ = 0;
  const run::Step* step_ = nullptr;
};

std::vector<std::size_t> starts_of(const Subject& subject, const DirtyOptions& options) {
  if (options.calls) return record::intervals_of_calls(subject.recording, subject.process, *options.calls);
  constexpr std::uint64_t kIntervals = 10;
  const std::uint64_t tenth = (subject.recorded().accesses + kIntervals - 1) / kIntervals;
  const std::uint64_t touches = options.touches.value_or(std::max<std::uint64_t>(tenth, 1));
  return record::intervals_of_touches(subject.recording, subject.process, touches);
}

struct Named {
  record::Tracker tracker;
  std::string_view name;
};
constexpr std::array kTrackers{
    Named{record::Tracker::mprotect, "mprotect and SIGSEGV"}, Named{record::Tracker::soft_dirty, "soft-dirty"},
    Named{record::Tracker::uffd_sync, "uffd-wp, sync"}, Named{record::Tracker::uffd_async, "uffd-wp, async"}};

/// Why the model's kernel cannot do that; empty where it can.
std::string lacking(const mm::Profile& profile, record::Tracker tracker) {
  const std::string kernel = "Linux " + profile.version + " on " + std::string(arch::arch_name(profile.arch));
  switch (tracker) {
    case record::Tracker::mprotect:
      return {};
    case record::Tracker::soft_dirty:
      return profile.soft_dirty == mm::SoftDirty::present ? "" : "no soft-dirty bits in " + kernel;
    case record::Tracker::uffd_sync:
      return has(profile.uffd_features, mm::UffdFeatures::pagefault_flag_wp) ? "" : "no write protection in " + kernel;
    case record::Tracker::uffd_async:
      return has(profile.uffd_features, mm::UffdFeatures::wp_async) ? "" : "no UFFD_FEATURE_WP_ASYNC in " + kernel;
  }
  return {};
}

/// As a program without privileges asks for it; pages that are not there yet are protected too where that can be.
record::UserfaultfdSetUp set_up(const mm::Profile& profile, record::Tracker tracker) {
  auto features = profile.uffd_features & mm::UffdFeatures::wp_unpopulated;
  if (tracker == record::Tracker::uffd_async) features |= mm::UffdFeatures::wp_async;
  using Requests = record::UserfaultfdSetUp::Requests;
  const bool user_mode_only = profile.uffd_access == mm::UffdAccess::user_mode_only;
  return {user_mode_only ? mm::UffdFlags::user_mode_only : mm::UffdFlags::none, features,
          profile.uffd_range == mm::UffdRange::one_mapping ? Requests::of_one_mapping : Requests::of_several};
}

void add_note(TrackerFigures& figures, const std::string& note) {
  figures.note += (figures.note.empty() ? "" : "; ") + note;
}

/// A figure of one interval, with the sign of what is spared.
std::string each(std::uint64_t added, std::uint64_t intervals) {
  const auto value = static_cast<double>(static_cast<std::int64_t>(added)) /
                     static_cast<double>(std::max<std::uint64_t>(intervals, 1));
  return decimal(value, value == static_cast<double>(static_cast<std::int64_t>(value)) ? 0 : 1);
}

}  // namespace

DirtyFigures compare_trackers(const Subject& subject, const DirtyOptions& options) {
  const program::Program& program = subject.recorded().program;
  DirtyFigures figures;
  const std::vector<std::size_t> starts = starts_of(subject, options);
  std::vector<const program::Statement*> statements;
  for (const std::size_t start : starts) statements.push_back(&program.body[start]);
  WholeRun usual(statements);
  machine::explain(subject.profile, program, subject.settings, usual, usual);
  std::vector<record::IntervalStart> intervals;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::uint64_t pages = 0;
    for (const Range& range : usual.ranges()[i]) pages += range.pages();
    figures.tracked_pages = std::max(figures.tracked_pages, pages);
    intervals.push_back({starts[i], usual.ranges()[i]});
  }
  figures.intervals = starts.size();
  figures.most_vmas = usual.most_vmas();
  for (const auto& [tracker, name] : kTrackers) {
    TrackerFigures found;
    found.name = name;
    found.note = lacking(subject.profile, tracker);
    found.possible = found.note.empty();
    if (found.possible) {
      const record::UserfaultfdSetUp how = set_up(subject.profile, tracker);
      const record::TrackedProgram tracked = record::tracked(program, tracker, intervals, how);
      WholeRun run({});
      machine::explain(subject.profile, tracked.program, subject.settings, run, run);
      found.dirty = tracked.dirty;
      found.most_vmas = run.most_vmas();
      found.added = run.counted() - usual.counted();
      found.handler_runs = found.added[Counter::fault_signal] + found.added[Counter::fault_uffd];
      // The model's own handler of userfaultfds answers each event by one ioctl.
      found.calls = run.calls() - usual.calls() + found.added[Counter::fault_uffd];
      if (tracked.kernel_stores > 0) {
        add_note(found, plural(tracked.kernel_stores, "store", "stores") + " by the kernel would be EFAULT");
      }
      const bool is_uffd = tracker == record::Tracker::uffd_sync || tracker == record::Tracker::uffd_async;
      if (is_uffd && how.features == mm::UffdFeatures::none)
        add_note(found, "pages that are not there yet are not protected");
      if (tracker == record::Tracker::soft_dirty || tracker == record::Tracker::uffd_async) {
        add_note(found, "and pagemap is read");
      }
    }
    figures.trackers.push_back(std::move(found));
  }
  return figures;
}

Table dirty_table(const DirtyFigures& figures) {
  constexpr auto kRight = Align::right;
  constexpr std::size_t kNote = 8;
  Table table{{{"tracker", "tracker"},
               {"", "dirty", kRight},
               {"", "faults", kRight},
               {"", "handler runs", kRight},
               {"", "calls", kRight},
               {"", "PTEs", kRight},
               {"", "flushes", kRight},
               {"most_vmas", "VMAs at most", kRight},
               {"note", "note"},
               {"intervals", ""},
               {"tracked_pages", ""},
               {"dirty", ""},
               {"exceptions", ""},
               {"handler_runs", ""},
               {"calls", ""},
               {"ptes_changed", ""},
               {"flushes", ""}},
              {}};
  for (const TrackerFigures& t : figures.trackers) {
    if (!t.possible) {
      std::vector<TableCell> row(table.columns.size());
      row[0] = t.name;
      row[kNote] = t.note;
      table.rows.push_back(std::move(row));
      continue;
    }
    const std::uint64_t flushes = t.added[Counter::flushes_ranged] + t.added[Counter::flushes_full];
    const std::uint64_t exceptions = t.added[Counter::exceptions];
    const std::uint64_t ptes = t.added[Counter::ptes_changed];
    const auto mean = [&](std::uint64_t added) { return each(added, figures.intervals); };
    table.rows.push_back({t.name, mean(t.dirty), mean(exceptions), mean(t.handler_runs), mean(t.calls), mean(ptes),
                          mean(flushes), t.most_vmas, t.note, figures.intervals, figures.tracked_pages, t.dirty,
                          exceptions, t.handler_runs, t.calls, ptes, flushes});
  }
  return table;
}

}  // namespace faultline::report
