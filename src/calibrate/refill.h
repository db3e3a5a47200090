#pragma once

#include <limits>
#include <span>

#include "run/row.h"

namespace faultline::calibrate {

/// What rows spent on the kernel's stocks: lists of free pages and of objects, which are filled and emptied many at a
/// time, and blocks of random numbers. Which call pays for that is a matter of what ran before it, not of what it does.
class Refills {
 public:
  /// The rows of one run, with their paths. They tell what taking a page from a full list costs where the compiler has
  /// made the refill a part of the function that takes one.
  explicit Refills(std::span<const run::Row> rows);

  /// By the row's executions on average, in instructions.
  double of(const run::Row& row) const;

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  double full_list_ = kNone;  // the least that a call of get_page_from_freelist took; no bound where none is known
};

}  // namespace faultline::calibrate
