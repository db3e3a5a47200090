#include "export/slice.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "export/relevance.h"
#include "export/spelling.h"
#include "export/text.h"
#include "program/parser.h"

namespace faultline::exports {
namespace {

using Clock = std::chrono::steady_clock;
using Behaviours = std::vector<Behaviour>;
using Kept = std::vector<std::size_t>;

/// What a slice's own chosen operations do, by their lines.
class Watcher : public run::StepListener, public mm::Observer {
 public:
  explicit Watcher(const std::vector<std::uint32_t>& lines) : lines_(lines) {}
  void begin(const run::Step&) override { space_ = nullptr; }
  void end(const run::Step& step, const run::StepOutcome& outcome) override {
    if (found_.size() == lines_.size() || step.statement->position.line != lines_[found_.size()]) return;
    found_.push_back(behaviour_of(step, outcome, space_));
  }
  void on(const mm::Event&) override {}
  void after(const mm::AddressSpace& space) override { space_ = &space; }
  Behaviours take() { return std::move(found_); }

 private:
  const std::vector<std::uint32_t>& lines_;
  const mm::AddressSpace* space_ = nullptr;
  Behaviours found_;
};

/// Does the slice's operation do what the whole program's did? Its addresses may have moved.
/// But for when the pages of earlier operations leave their batches for the lists, which is no doing of this one's.
Counters own_work(Counters counted) {
  for (const Counter batched : {Counter::lru_added, Counter::lru_spared, Counter::lru_batches, Counter::pages_lazyfreed,
                                Counter::mlock_batches, Counter::mlock_moved}) {
    counted[batched] = 0;
  }
  return counted;
}

bool is_same(const Behaviour& whole, const Behaviour& slice) {
  const bool value = whole.value == slice.value || moved(whole.value) == slice.value;
  const bool signal =
      whole.signal.has_value() == slice.signal.has_value() &&
      (!whole.signal || (whole.signal->number == slice.signal->number && whole.signal->code == slice.signal->code));
  return (value || whole.error) && whole.error == slice.error && signal &&
         own_work(whole.counted) == own_work(slice.counted) && whole.vmas == slice.vmas;
}

class Slicer {
 public:
  Slicer(const Request& request, const Trace& trace, const std::string& answers)
      : request_(request), trace_(trace), descriptors_(trace.events), input_{trace, descriptors_, answers} {}

  Slice slice() {
    Kept kept = relevant_events(trace_.events, descriptors_);
    Slice slice;
    slice.considered = kept.size();
    slice.chosen = trace_.chosen.size();
    slice.left_out = trace_.left_out;
    expected_ = trace_.chosen;
    const auto [with_all, all_hold] = play(kept, JoinAccesses::no);
    set_up_holds_ = all_hold;
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      if (i >= with_all.size() || !is_same(expected_[i], with_all[i])) ++slice.different;
    }
    // It is made small all the same, and what it does as a whole stays.
    if (slice.different > 0 && with_all.size() == expected_.size()) expected_ = with_all;
    const auto deadline = Clock::now() + request_.patience;
    reduce(kept, deadline);
    const JoinAccesses join = holds(kept, JoinAccesses::yes) ? JoinAccesses::yes : JoinAccesses::no;
    slice.others = kept.size();
    Trace asserted = trace_;
    asserted.chosen = expected_;
    slice.text = slice_text({asserted, descriptors_, input_.answers}, kept, join, Assert::figures).text;
    return slice;
  }

 private:
  struct Played {
    Behaviours behaviours;
    bool all_hold = false;  // every result, those of the set-up, too
  };

  Played play(const Kept& kept, JoinAccesses join) const {
    const SliceText made = slice_text(input_, kept, join, Assert::results);
    const auto program = program::parse(made.text, "slice");
    if (!program) return {};
    Watcher watcher(made.lines);
    const run::Report report = machine::explain(request_.profile, *program, request_.settings, watcher, watcher);
    const bool all_hold = std::ranges::none_of(
        report.checks, [](const run::Check& check) { return check.status == run::CheckStatus::failed; });
    return {watcher.take(), all_hold};
  }

  bool holds(const Kept& kept, JoinAccesses join) const {
    const Played played = play(kept, join);
    return (played.all_hold || !set_up_holds_) && std::ranges::equal(expected_, played.behaviours, is_same);
  }

  /// Takes away groups, large ones first, until nothing can go.
  void reduce(Kept& kept, Clock::time_point deadline) const {
    std::size_t group = kept.size();
    while (group > 0) {
      bool any = false;
      // From the end: what uses something goes before what made it.
      for (std::size_t end = kept.size(); end > 0;) {
        if (Clock::now() > deadline) return;
        const std::size_t begin = end > group ? end - group : 0;
        Kept fewer(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(begin));
        fewer.insert(fewer.end(), kept.begin() + static_cast<std::ptrdiff_t>(end), kept.end());
        if (holds(fewer, JoinAccesses::no)) {
          kept = std::move(fewer);
          any = true;
        }
        end = begin;
      }
      if (!any || group > 1) group /= 2;
    }
  }

  const Request& request_;
  const Trace& trace_;
  Descriptors descriptors_;
  TextInput input_;
  Behaviours expected_;
  bool set_up_holds_ = true;  // where all of it is there
};

}  // namespace

std::expected<Slice, std::string> make_slice(const Request& request) {
  Tracer tracer(request.choice, request.site_of);
  const run::Report report = machine::explain(request.profile, request.program, request.settings, tracer, tracer);
  const Trace& trace = tracer.trace();
  if (trace.chosen.empty()) {
    return std::unexpected("no operation is in the slice: the program executed " + std::to_string(trace.steps) +
                           (report.ending == run::Ending::completed ? "" : ", and did not complete"));
  }
  const std::string answers = request.origin + ", on model:" + request.profile.name;
  return Slicer(request, trace, answers).slice();
}

}  // namespace faultline::exports
