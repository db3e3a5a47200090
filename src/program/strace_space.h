#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/program.h"
#include "program/strace_call.h"
#include "program/strace_memory.h"
#include "program/strace_tally.h"

namespace faultline::program {

/// Is it a call that strace printed by its number, with six arguments: "syscall_0x1ce"?
bool is_raw_call(std::string_view name);
/// The call of that name, if an import makes statements of it.
std::optional<Sys> imported_call(std::string_view name);
/// Which argument of such a call is a string.
std::optional<std::size_t> recorded_string_of(Sys sys);

/// One address space of a log: what it has mapped so far, and the statements made of its calls. Every mapping is made
/// where the log has it, so that later calls meet it there. A call that uses memory which the log never mapped (the
/// executable's, the stack's, what was there before strace attached) has it set up first.
class RecordedSpace {
 public:
  /// A child's, at fork: the same memory, no statements.
  RecordedSpace forked() const;

  /// Adds the statements of a call that imported_call() knows. `call` has as many arguments as the call takes. `slots`
  /// are the names of the program's variables, to which a new memfd adds one.
  void add(Sys sys, const RecordedCall& call, Position position, StraceTally& tally, std::vector<std::string>& slots);
  /// Is that descriptor a memfd that the log has created?
  bool is_memfd(std::uint64_t fd) const { return memfds_.contains(static_cast<std::uint32_t>(fd)); }
  /// Adds a fork; returns the place of its `child` block among the statements.
  std::size_t add_child(Position position);

  /// Would brk(NULL) = `result` contradict what the space has done? Only another execve changes the break so.
  bool contradicts_break(std::uint64_t result) const { return break_ && *break_ != result; }
  bool has_break(std::uint64_t value) const { return break_ == value; }
  bool untouched() const { return statements_.empty() && !break_; }
  Block& statements() { return statements_; }

 private:
  struct Context;

  void map(const Context& c);
  void unmap(const Context& c);
  void protect(const Context& c);
  void advise(const Context& c);
  void remap(const Context& c);
  void move_break(const Context& c);
  void lock_or_seal(const Context& c);
  void create_memfd(const Context& c);
  void change_memfd(const Context& c);
  void deny_write_exec(const Context& c);

  enum class Gaps : std::uint8_t { all, unknown };
  /// Maps what the range lacks, as memory that allows reading and writing.
  void set_up(const Context& c, Range range, Gaps gaps);
  void leave_out(const Context& c, std::string_view why);
  /// A failure that arguments and mappings alone decide. Of ENOMEM only one for memory that is not mapped: limits are
  /// not in a log.
  bool reproducible(const Context& c, std::optional<Range> range) const;

  RecordedMemory memory_;
  std::optional<std::uint64_t> break_;
  Block statements_;
  std::map<std::uint32_t, std::uint64_t> memfds_;  // by descriptor: the slot of the variable that holds it
  enum class Mdwe : std::uint8_t { off, inherited, own };
  Mdwe mdwe_ = Mdwe::off;  // PR_SET_MDWE, as far as the log has it
};

}  // namespace faultline::program
