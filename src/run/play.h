#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "run/case.h"
#include "run/kernel.h"

namespace faultline::run {

/// Plays a case on a kernel: one piece of code for every machine, as the executor is for programs. `sink(kernel, index,
/// record)` hears of every step in the process that made it; it may not allocate on a real kernel.
template <Kernel K, class Sink>
class CasePlayer {
 public:
  CasePlayer(const Case& played, Sink sink) : case_(played), sink_(std::move(sink)) {}

  void play(K& kernel) { block(kernel, 0, case_.steps.size()); }

 private:
  /// Children that live on end with the process that made them, so that what they share is the same on every machine.
  void block(K& kernel, std::size_t first, std::size_t end) {
    std::array<bool, kMostCaseChildren + 1> living{};
    for (std::size_t i = first; i < end; i += 1 + case_.steps[i].body) {
      const CaseStep& step = case_.steps[i];
      const std::uint64_t before = kernel.counters()[Counter::minor_faults];
      StepRecord record = perform(kernel, i, living);
      if (counts(step)) record.minor_faults = kernel.counters()[Counter::minor_faults] - before;
      record.state = kernel.state(case_.watched).value_or(0);
      if (i + 1 + step.body == end) record.flags = kernel.flags(case_.watched).value_or(0);
      sink_(kernel, i, record);
    }
    for (std::uint8_t child = 1; child <= kMostCaseChildren; ++child) {
      if (living[child]) kernel.exit_child(name_of(child));
    }
  }

  /// What a child counts is its own, and mlockall touches all that a machine has beside the case.
  static bool counts(const CaseStep& step) {
    if (step.kind == StepKind::call) return step.sys != program::Sys::mlockall;
    return step.kind == StepKind::access || step.kind == StepKind::place_code;
  }

  StepRecord perform(K& kernel, std::size_t index, std::array<bool, kMostCaseChildren + 1>& living) {
    const CaseStep& step = case_.steps[index];
    switch (step.kind) {
      case StepKind::call:
        return call(kernel, step);
      case StepKind::access:
        return access(kernel, {step.access, Addr{step.arguments[0]}, 1, kPageSize, step.arguments[1], {}});
      case StepKind::place_code:
        return signal(kernel.place_code(Addr{step.arguments[0]}));
      case StepKind::fork: {
        if (step.child != 0) living[step.child] = true;
        const auto failure =
            kernel.child(name_of(step.child), [&](K& child) { block(child, index + 1, index + 1 + step.body); });
        return {failure ? StepEnding::unsupported : StepEnding::done};
      }
      case StepKind::exit:
        if (!living[step.child]) return {StepEnding::done};
        living[step.child] = false;
        return {kernel.exit_child(name_of(step.child)) ? StepEnding::done : StepEnding::unsupported};
      case StepKind::fill:
        return fill(kernel, Addr{step.arguments[0]}, step.arguments[1]);
    }
    return {};
  }

  StepRecord call(K& kernel, const CaseStep& step) {
    CallRequest request{step.sys, step.arguments, step.count};
    if (step.sys == program::Sys::memfd_create) {
      request.arguments[0] = reinterpret_cast<std::uint64_t>(kCaseFile);
      request.strings = 1;
    }
    if (kernel.unsupported(request)) return {StepEnding::unsupported};
    const CallOutcome outcome = kernel.call(request);
    if (outcome.error) return {StepEnding::error, static_cast<std::uint64_t>(outcome.error->value)};
    const bool places = step.sys == program::Sys::mmap || step.sys == program::Sys::mremap;
    const bool asked_for = step.sys == program::Sys::mmap && outcome.value == step.arguments[0];
    if (!places || asked_for || case_.watched.contains(Addr{outcome.value})) return {StepEnding::done, outcome.value};
    kernel.call({program::Sys::munmap, {outcome.value, mapped_length(step)}, 2});
    return {StepEnding::done, kElsewhere};
  }

  /// Every other page, so that none merges with another.
  static StepRecord fill(K& kernel, Addr at, std::uint64_t room) {
    const ProbeAnswer limit = kernel.max_map_count();
    const ProbeAnswer there = kernel.vmas(std::nullopt);
    if (!limit || !there) return {StepEnding::unsupported};
    constexpr std::uint64_t kPrivateAnonymousFixed = 0x32;
    for (std::uint64_t mappings = *there + room; mappings < *limit; ++mappings) {
      const CallOutcome made =
          kernel.call({program::Sys::mmap, {at.value, kPageSize, 0, kPrivateAnonymousFixed, ~std::uint64_t{0}, 0}, 6});
      if (made.error) return {StepEnding::error, static_cast<std::uint64_t>(made.error->value)};
      at = at + 2 * kPageSize;
    }
    return {StepEnding::done};
  }

  StepRecord access(K& kernel, const AccessRequest& request) {
    if (kernel.unsupported(request)) return {StepEnding::unsupported};
    return signal(kernel.access(request));
  }

  static StepRecord signal(const AccessOutcome& outcome) {
    if (!outcome.signal) return {StepEnding::done};
    return {StepEnding::signal, signal_value(outcome.signal->number, outcome.signal->code)};
  }

  static std::string_view name_of(std::uint8_t child) {
    // One letter each; 0 has none.
    static constexpr std::string_view kNames = "abcdefghijklmnop";
    static_assert(kNames.size() == kMostCaseChildren);
    return child == 0 ? std::string_view{} : kNames.substr(child - 1U, 1);
  }

  const Case& case_;
  Sink sink_;
};

}  // namespace faultline::run
