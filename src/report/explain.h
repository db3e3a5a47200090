#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "mm/trace.h"
#include "report/page_story.h"
#include "report/style.h"
#include "report/vma_map.h"
#include "report/why_fault.h"
#include "run/step.h"

namespace faultline::report {

/// The steps to explain, both ends included; steps count from 1.
struct StepRange {
  std::uint64_t first = 1;
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();

  constexpr bool contains(std::uint64_t step) const { return first <= step && step <= last; }
};

/// Are the VMAs drawn, before and after each step?
enum class DrawVmas : std::uint8_t { no, yes };

/// Prints what `faultline explain` shows of each step: the operation with its arguments as evaluated; the VMA; each
/// page's entry, what the hardware reports and why that is a fault, each fault with the rule that decided and its
/// section of docs/kernel-semantics.md; splits, merges and flushes; the cost; the result, or the signal, and which rule
/// refused. Pages of one step to which the same happens, one after the other, are folded: "×32 pages 0x… – 0x…". Text
/// goes to `sink` as steps end, so that a long run needs no memory.
class Explainer : public run::StepListener, public mm::Observer {
 public:
  using Sink = std::function<void(std::string_view)>;
  Explainer(StepRange steps, DrawVmas draw, Sink sink, Colour colour);

  void begin(const run::Step& step) override;
  void end(const run::Step& step, const run::StepOutcome& outcome) override;
  void forked(std::uint32_t parent, std::uint32_t child) override { why_.forked(parent, child); }
  void on(const mm::Event& event) override;
  void before(const mm::AddressSpace& space) override;
  void after(const mm::AddressSpace& space) override;

  /// Steps that were printed so far, and steps that were executed.
  std::uint64_t printed() const { return printed_; }
  std::uint64_t executed() const { return executed_; }

 private:
  void add_vma(const mm::Event& event);
  void line(std::string_view label, std::string_view text, Emphasis emphasis = Emphasis::none);

  void draw(const run::Step& step, const run::StepOutcome& outcome);

  StepRange steps_;
  DrawVmas draw_;
  Sink sink_;
  Colour colour_;
  bool listening_ = false;
  std::string text_;  // of the current step
  std::string last_vma_;
  PageStory pages_;
  WhyFault why_;
  VmaChange vmas_;                        // of the current step
  const mm::Profile* profile_ = nullptr;  // set once an address space was shown in the current step
  std::uint64_t printed_ = 0;
  std::uint64_t executed_ = 0;
};

}  // namespace faultline::report
