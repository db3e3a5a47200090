#pragma once

#include <set>
#include <string>
#include <vector>

#include "program/program.h"

namespace faultline::exports {

/// The variables of a program that is to be C: each slot has a name of its own there.
class CVariables {
 public:
  explicit CVariables(const program::Program& program);

  const std::string& name(program::Slot slot) const { return names_[slot.index]; }
  /// Is its value ever asked for, in a statement that becomes C? Else it is left out.
  bool is_read(program::Slot slot) const { return read_.contains(slot.index); }
  /// Those that the block reads or binds, and that are read somewhere.
  std::vector<program::Slot> mentioned(const program::Block& block) const;

 private:
  std::vector<std::string> names_;
  std::set<std::uint32_t> read_;
};

/// Does an expectation concern the kernel of the machine that a reproducer runs on?
bool concerns_live(const program::Expect& expect);

}  // namespace faultline::exports
