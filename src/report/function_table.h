#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "report/style.h"

/// Where instructions went, by function of the kernel.
namespace faultline::report {

/// One function in one row, over all samples.
struct FunctionCount {
  std::string function;
  std::uint64_t self = 0;       // instructions of its own
  std::uint64_t inclusive = 0;  // and of all that it called, directly or not
};

/// The functions of a row, those with most of their own first. Recursion is counted once in `inclusive`.
std::vector<FunctionCount> functions_of(const run::Row& row);

/// A table for each operation, or for that of one line: functions, and what each executed per call on each machine;
/// with two machines the differences, largest first, whose sum is the difference of the totals. Functions below a
/// thousandth of the total stand together in one line.
std::string function_table(const Comparison& comparison, std::optional<std::uint32_t> line, Colour colour);

/// One line for each path of calls, "machine;line 10;mprotect;change_protection 1504", as flame graph tools read them.
/// Counts are per call, rounded.
std::string folded_stacks(const Comparison& comparison);

/// The same in callgrind's format, for KCachegrind: instructions of each function and of each call, over all samples.
/// One machine of the comparison.
std::string callgrind(const Comparison& comparison, std::size_t machine);

}  // namespace faultline::report
