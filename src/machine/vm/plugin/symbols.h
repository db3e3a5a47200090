#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace faultline::machine::vm {

/// What begins at an instruction.
enum class Entry : std::uint8_t {
  none,
  interrupt,
  exception,
  fault,          // an exception that is a page fault
  fault_handler,  // a function that every page fault calls, where its exception is not told from others
  sends_ipi,      // the function that interrupts other processors so that they call something
};

/// The kernel's functions by address.
class Symbols {
 public:
  /// Reads a file of lines "ffffffff81000000 i NAME": an address and what begins there, i for interrupts, p for page
  /// faults, e for other exceptions, h for the handler of page faults, s for what sends IPIs, f for functions;
  /// ascending addresses.
  bool read(const char* file);

  Entry entry(std::uint64_t vaddr) const;
  /// Which function of the file, counted from 0 over all its lines, the address lies in; ~0 for none.
  std::uint32_t function(std::uint64_t vaddr) const;

 private:
  std::vector<std::uint64_t> addresses_;
  std::vector<Entry> entries_;
};

}  // namespace faultline::machine::vm
