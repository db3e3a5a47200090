#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"

/// The value of an expression while a program runs.
namespace faultline::run {

enum class EvalFailure : std::uint8_t {
  misuse,   // nonsense, such as a division by zero: ends the run
  unknown,  // this machine cannot tell: the expectation is skipped
  unequal,  // the answer is not one number (faults that do not divide by the repetitions): the expectation fails
};

struct EvalError {
  EvalFailure kind{};
  program::Position position;
  std::string message;
};

using Value = std::expected<std::uint64_t, EvalError>;

/// Answers the questions of an expression about memory and counts.
class ProbeSource {
 public:
  virtual ~ProbeSource() = default;
  /// `arguments` are evaluated already.
  virtual Value probe(program::Position position, const program::Probe& probe,
                      std::span<const std::uint64_t> arguments) = 0;
};

/// Evaluates with wrapping unsigned 64-bit arithmetic. A shift by 64 or more gives 0; a division or remainder by zero
/// is misuse; `&&` and `||` leave out the right side when the left one decides. A string literal is the address of its
/// zero-terminated bytes.
Value evaluate(const program::Expr& expr, std::span<const std::uint64_t> slots, ProbeSource& probes);

/// Evaluates a condition: nothing when it holds, else a sentence with the values that were found. The sides of a
/// comparison are shown; of `a && b` the side that does not hold.
std::expected<std::optional<std::string>, EvalError> find_falsehood(const program::Expr& condition,
                                                                    std::span<const std::uint64_t> slots,
                                                                    ProbeSource& probes);

/// A value as messages show it: decimal, negative when it is a small negative number, hexadecimal when it is an
/// address.
std::string value_text(std::uint64_t value);

}  // namespace faultline::run
