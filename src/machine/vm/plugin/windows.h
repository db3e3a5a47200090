#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/marks.h"

namespace faultline::machine::vm {

/// What one virtual processor has executed, and the window that is open on it.
class Windows {
 public:
  /// Instructions in kernel mode so far; the translated code adds to it.
  std::uint64_t executed = 0;
  /// Its number.
  std::uint64_t processor = 0;

  /// An interrupt's, or another exception's, first instruction is about to be executed.
  void interrupt_begins();
  void exception_begins();
  /// The last one of either is; with it, `through` have been executed.
  void returns(std::uint64_t through);

  /// A page fault's first instruction, or that of its handler, is about to be executed.
  void fault() {
    if (depth_ == 0) ++faults_;
  }
  /// Other processors are about to be interrupted.
  void ipi() {
    if (depth_ == 0) ++ipis_;
  }

  bool counts() const { return open_ && depth_ == 0; }
  std::uint32_t argument() const { return argument_; }

  /// Takes a mark of the agent. Finished windows and bytes of messages gather in `records` and `message`.
  /// True when they are to be handed over.
  bool take(std::uint32_t mark, std::vector<run::WindowRecord>& records, std::string& message);

 private:
  void end_interrupt();
  run::WindowRecord end_window();

  std::uint32_t number_ = 0;  // digits so far
  bool open_ = false;
  std::uint32_t argument_ = 0;
  std::uint64_t began_ = 0;
  std::uint64_t faults_ = 0;      // of this window
  std::uint64_t interrupts_ = 0;  // of this window
  std::uint64_t ipis_ = 0;        // of this window
  std::uint64_t interrupt_began_ = 0;
  std::uint32_t depth_ = 0;  // exceptions in each other, the outermost an interrupt
};

}  // namespace faultline::machine::vm
