#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/counters.h"
#include "base/errno.h"
#include "base/signal.h"
#include "program/program.h"

/// What an explanation sees of a run: one step per executed operation.
namespace faultline::run {

/// An operation that is about to be executed.
struct Step {
  std::uint64_t number = 0;   // counts executed operations from 1, over all processes and threads
  std::uint32_t process = 0;  // 0 for the program's own process, then one per child in the order of forking
  const program::Statement* statement = nullptr;
  /// System call: its arguments as evaluated. Access: address, length, stride, value, and the text page if it has one.
  /// Code: the address.
  std::span<const std::uint64_t> arguments;
};

/// What the operation ended in.
struct StepOutcome {
  std::uint64_t value = 0;       // a system call's result; the bits of -errno when it failed; 0 for an access
  std::optional<Errno> error;    // of a system call
  std::optional<Signal> signal;  // of an access
  Counters counted;              // by this step alone
};

class StepListener {
 public:
  virtual ~StepListener() = default;
  virtual void begin(const Step& step) = 0;
  virtual void end(const Step& step, const StepOutcome& outcome) = 0;
  /// A process is about to fork another one, which has no steps yet.
  virtual void forked(std::uint32_t /*parent*/, std::uint32_t /*child*/) {}
  /// The name of the child that is about to be forked; empty for one that ends with its block.
  virtual void child_named(std::uint32_t /*child*/, std::string_view /*name*/) {}
  /// A process lets its child of that name end.
  virtual void child_ends(std::uint32_t /*parent*/, std::string_view /*name*/) {}
};

}  // namespace faultline::run
