#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/flags.h"
#include "program/machine_pattern.h"
#include "program/position.h"
#include "program/syscall.h"

/// A program as every machine runs it: the tree that the parser makes of a `.fl` text.
/// Values are unsigned 64-bit integers that wrap, as addresses and lengths do; -1 is 2^64-1.
namespace faultline::program {

/// Where a variable's value lives while the program runs: an index below Program::slots.size().
struct Slot {
  std::uint32_t index = 0;
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

/// `4096`, `0x10`, `64K`: the text is kept so that printing gives back what was written.
struct Number {
  std::uint64_t value = 0;
  std::string text;
};
/// `PROT_READ`, `NULL`, `PAGE`, `ENOMEM`, `MADV_FREE`: a name of constants.h.
struct NamedConstant {
  std::uint64_t value = 0;
  std::string name;
};
struct Variable {
  Slot slot;
  std::string name;
};
/// `"heap"`: only as a system call's argument (memfd_create, open).
struct StringLiteral {
  std::string value;
};
enum class UnaryOp : std::uint8_t { minus, complement, logical_not };
struct Unary {
  UnaryOp op;
  ExprPtr operand;
};
enum class BinaryOp : std::uint8_t {
  bit_or,
  bit_xor,
  bit_and,
  shift_left,
  shift_right,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
};
struct Binary {
  BinaryOp op;
  ExprPtr left;
  ExprPtr right;
};

/// A question about the state of memory or about what was counted.
enum class ProbeKind : std::uint8_t {
  vmas,           // vmas(addr, len): VMAs that overlap the range; vmas(): of the whole process
  resident,       // resident(addr, len): present pages (the zero page included, guards not), as mincore(2) sees them
  huge,           // huge(addr, len): of the resident pages, those mapped by huge pages, the huge zero page included
  perm,           // perm(addr): PROT_ bits of the VMA there, or UNMAPPED
  value,          // value(addr): the byte there; never faults; 0 for an untouched page
  state,          // state(addr, len): one number for all that can be observed of the range (run/state_digest.h)
  soft_dirty,     // soft_dirty(addr, len): pages whose soft-dirty bit pagemap(5) shows
  uffd_wp,        // uffd_wp(addr, len): pages that it shows as write-protected by a userfaultfd
  max_map_count,  // max_map_count(): the sysctl vm.max_map_count
  faults,         // faults("name"): exceptions per repetition of that measure block
  minflt,         // minflt("name"): ru_minflt per repetition of that measure block
  named,          // named(addr, "name"): 1 if the anonymous VMA there has that name (PR_SET_VMA_ANON_NAME)
  vmflags,        // vmflags(addr, "rd wr"): 1 if the VMA there has these flags and no others, as smaps shows them
  pkey,           // pkey(addr): the protection key of the VMA there, or UNMAPPED
  count,          // count(counter, "name"): any counter of counters.h per repetition
};
struct Probe {
  ProbeKind kind;
  std::vector<ExprPtr> arguments;
  std::string counter;  // count() only
  std::string measure;  // faults(), minflt(), count() only
};

struct Expr {
  Position position;
  std::variant<Number, NamedConstant, Variable, StringLiteral, Unary, Binary, Probe> node;
};

struct Statement;
using Block = std::vector<Statement>;

/// `param pages = 32`: a number that --set may replace before the program starts.
struct Param {
  Slot slot;
  std::string name;
  ExprPtr value;  // may use earlier params
};
/// `let size = pages * PAGE`, also `x = x + 1` for a name that exists already (`rebinds`).
struct Let {
  Slot slot;
  std::string name;
  ExprPtr value;
  bool rebinds = false;
};

/// A trailing `= VALUE` or `= -1 ENOMEM` or `= SIGSEGV SEGV_ACCERR`.
struct ExpectValue {
  ExprPtr value;
};
struct ExpectErrno {
  int error = 0;
};
struct ExpectSignal {
  int number = 0;
  std::optional<int> code;
};
using ResultAssertion = std::variant<ExpectValue, ExpectErrno, ExpectSignal>;

/// `a = mmap(…) = 0`: the result, or minus the errno, is bound to the name on the left.
struct SystemCall {
  std::optional<Slot> result_slot;
  std::string result_name;
  Sys sys{};
  std::vector<ExprPtr> arguments;
  std::optional<ResultAssertion> assertion;  // ExpectValue or ExpectErrno
};

/// `load(addr, len, stride)`, `store(addr, len, stride, value)`, `atomic(…)`, `fetch(…)`: one access at addr,
/// addr+stride, … below addr+len. Loads and stores are of one byte; an atomic adds `value` (default 1) to the aligned
/// 64-bit word. `at TEXT` runs the accessing instruction from the page at TEXT, where a `code` statement has put it.
/// Without an assertion a signal ends the process, as it would any other.
struct Access {
  AccessKind kind{};
  ExprPtr address;
  ExprPtr length;                            // null: one access
  ExprPtr stride;                            // null: PAGE
  ExprPtr value;                             // null: 1
  ExprPtr text;                              // null: the machine's own, readable text
  std::optional<ResultAssertion> assertion;  // ExpectSignal, or ExpectValue 0 for "no signal"
};
/// `code(addr)`: writes the access routines into the page at addr (a store, so it faults as one).
struct PlaceCode {
  ExprPtr address;
};

struct Repeat {
  ExprPtr count;
  Block body;
};
/// `for i in 0..n { }`: i runs from first to limit-1.
struct For {
  Slot slot;
  std::string name;
  ExprPtr first;
  ExprPtr limit;
  Block body;
};
/// `measure "cycle" repeat 1000 { }`; without `repeat` once.
struct Measure {
  std::string name;
  ExprPtr count;  // null: 1
  Block body;
};
/// `child { }`: fork; the child runs the block and exits, the parent waits for that.
/// `child "name" { }`: the same, but the child stays alive after the block until `exit("name")` or the program's end.
struct Child {
  std::string name;  // empty: exits at the block's end
  Block body;
};
struct ExitChild {
  std::string name;
};
/// `threads N { }`: N threads share the address space and run the block; `thread` is 0..N-1 inside it.
struct Threads {
  Slot slot;
  ExprPtr count;
  Block body;
};
/// `expect vmas(a, size) == 1 on model, live`: no pattern means every machine.
struct Expect {
  ExprPtr condition;
  std::vector<MachinePattern> machines;
};

struct Statement {
  Position position;
  std::string text;  // the source of a single-line statement, trimmed and without comment; used as a row's title
  std::variant<Param, Let, SystemCall, Access, PlaceCode, Repeat, For, Measure, Child, ExitChild, Threads, Expect> node;
};

struct Program {
  std::string name;                // the path as given, for messages
  std::string answers;             // the first line's comment: what the program answers
  std::vector<std::string> slots;  // the names of variables, by slot
  Block body;
};

}  // namespace faultline::program
