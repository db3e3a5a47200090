#include "check/checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errno.h"
#include "base/signal.h"
#include "check/reproducer.h"
#include "machine/model.h"

namespace faultline::check {
namespace {

using run::StepEnding;
using run::StepRecord;

std::string outcome_text(const StepRecord& record) {
  switch (record.outcome) {
    case StepEnding::not_reached:
      return "was not reached";
    case StepEnding::done:
      return fmt::format("gave {:#x}", record.value);
    case StepEnding::error:
      return fmt::format("gave {}", errno_name(Errno{static_cast<int>(record.value)}));
    case StepEnding::signal: {
      const int number = run::signal_number_of(record.value);
      return fmt::format("ended in {} {}", signal_name(number),
                         signal_code_name(number, run::signal_code_of(record.value)));
    }
    case StepEnding::unsupported:
      return "is not done";
  }
  return "";
}

/// How the machine differs from the model in a step; nothing when it does not.
std::optional<std::string> difference(const StepRecord& model, const StepRecord& machine) {
  if (model.outcome != machine.outcome || model.value != machine.value) {
    return fmt::format("{} on the machine, {} on the model", outcome_text(machine), outcome_text(model));
  }
  if (model.minor_faults != machine.minor_faults) {
    return fmt::format("{} minor faults on the machine, {} on the model", machine.minor_faults, model.minor_faults);
  }
  if (model.state != machine.state) return "left another state on the machine than on the model";
  if (model.flags != machine.flags) return "left other flags of mappings on the machine than on the model";
  return std::nullopt;
}

std::optional<std::string> difference(const Drawn& played, const run::CaseRecord& model,
                                      const run::CaseRecord& machine) {
  // In the order in which the steps are made, a fork after its body.
  std::vector<std::size_t> pending;
  std::optional<std::string> found;
  const auto look = [&](std::size_t i) {
    if (found) return;
    if (const auto what = difference(model[i], machine[i])) {
      found = fmt::format("{} {}", text_of(played.operations[i]), *what);
    }
  };
  for (std::size_t i = 0; i < model.size(); ++i) {
    while (!pending.empty() && i > pending.back() + played.operations[pending.back()].step.body) {
      look(pending.back());
      pending.pop_back();
    }
    if (played.operations[i].step.kind == run::StepKind::fork) {
      pending.push_back(i);
    } else {
      look(i);
    }
  }
  for (; !pending.empty(); pending.pop_back()) look(pending.back());
  return found;
}

/// A program that differed is played again by itself, so often: what differs must always differ.
constexpr int kMorePlays = 3;

}  // namespace

Checker::Checker(mm::Profile profile, machine::Machine& against)
    : profile_(std::move(profile)), model_(machine::make_model(profile_)), against_(against) {}

std::expected<std::vector<Difference>, std::string> Checker::play(const std::vector<Drawn>& programs) {
  std::vector<run::Case> cases(programs.size());
  std::ranges::transform(programs, cases.begin(), case_of);
  const auto model = model_->play(cases);
  if (!model) return std::unexpected(model.error());
  const auto machine = against_.play(cases);
  if (!machine) return std::unexpected(machine.error());
  std::vector<Difference> found;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if ((*model)[i] == (*machine)[i]) continue;
    if (auto what = difference(programs[i], (*model)[i], (*machine)[i])) found.push_back({programs[i], *what});
  }
  return found;
}

std::expected<std::optional<Difference>, std::string> Checker::compare(const std::vector<Drawn>& programs) {
  auto found = play(programs);
  if (!found) return std::unexpected(found.error());
  for (Difference& one : *found) {
    bool always = true;
    for (int more = 0; more < kMorePlays && always; ++more) {
      const auto again = play({one.played});
      if (!again) return std::unexpected(again.error());
      always = !again->empty();
    }
    if (always) return std::move(one);
    ++disturbed_;
  }
  return std::nullopt;
}

std::expected<Difference, std::string> Checker::shrink(Difference difference) {
  // From the end: what comes last matters most, and what came after it not at all.
  for (std::size_t chunk = std::max<std::size_t>(difference.played.operations.size() / 2, 1); chunk > 0; chunk /= 2) {
    const std::size_t needed = difference.played.needed;
    for (std::size_t end = difference.played.operations.size(); end > needed; end = end > chunk ? end - chunk : 0) {
      if (end > difference.played.operations.size()) continue;
      const Drawn fewer = without(difference.played, std::max(end > chunk ? end - chunk : 0, needed), end);
      if (fewer.operations.empty()) continue;
      auto still = play({fewer});
      if (!still) return std::unexpected(still.error());
      if (!still->empty()) difference = std::move(still->front());
    }
  }
  return difference;
}

std::string Checker::reproducer(const Difference& difference) const {
  return fmt::format("# Where model:{} and {} differ:\n#   {}\n{}", profile_.name, against_.kernel(), difference.what,
                     program_text(difference.played, profile_));
}

}  // namespace faultline::check
