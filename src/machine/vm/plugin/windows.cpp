#include "machine/vm/plugin/windows.h"

namespace faultline::machine::vm {

void Windows::interrupt_begins() {
  if (depth_++ == 0) interrupt_began_ = executed;
}

void Windows::exception_begins() {
  if (depth_ > 0) ++depth_;
}

void Windows::returns(std::uint64_t through) {
  if (depth_ == 0) return;
  --depth_;
  if (depth_ > 0) return;
  interrupts_ += through - interrupt_began_;
}

/// The agent runs in user mode, so no interrupt is being handled now, whatever was seen: one that scheduled another
/// process ends where that process returns.
void Windows::end_interrupt() {
  if (depth_ > 0) interrupts_ += executed - interrupt_began_;
  depth_ = 0;
}

run::WindowRecord Windows::end_window() {
  end_interrupt();
  const run::WindowRecord record{static_cast<std::uint32_t>(run::Mark::window_ends),
                                 open_ ? argument_ : run::kBrokenWindow,
                                 executed - began_ - interrupts_,
                                 faults_,
                                 interrupts_,
                                 ipis_,
                                 processor};
  open_ = false;
  return record;
}

bool Windows::take(std::uint32_t mark, std::vector<run::WindowRecord>& records, std::string& message) {
  constexpr auto kDigit = static_cast<std::uint32_t>(run::Mark::digit);
  if (mark < kDigit) {
    message.push_back(static_cast<char>(mark));
    return false;
  }
  if (mark < kDigit + 0x100) {
    number_ = number_ << 8 | (mark & 0xff);
    return false;
  }
  switch (static_cast<run::Mark>(mark)) {
    case run::Mark::window_begins:
      end_interrupt();
      // A window inside another belongs to a second thread: neither's figure means anything.
      argument_ = open_ ? run::kBrokenWindow : number_;
      open_ = true;
      interrupts_ = 0;
      faults_ = 0;
      ipis_ = 0;
      began_ = executed;
      break;
    case run::Mark::window_ends:
      records.push_back(end_window());
      break;
    case run::Mark::operation_ends:
    case run::Mark::repetition_begins:
    case run::Mark::repetition_ends:
      records.push_back({.mark = mark, .argument = number_, .processor = processor});
      break;
    case run::Mark::message_ends:
      return true;
    case run::Mark::digit:
      break;
  }
  number_ = 0;
  return false;
}

}  // namespace faultline::machine::vm
