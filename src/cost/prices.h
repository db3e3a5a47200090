#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/table.h"

namespace faultline::cost {

/// A predicted number of instructions.
struct Prediction {
  double instructions = 0;
  /// By how much it may be wrong, in instructions: by the worst error of the operation on held-out programs, and
  /// by all of what is borrowed.
  double uncertainty = 0;
};

/// A kernel's costs, ready to predict with. What no program can make that kernel do, but a policy can make the model of
/// it do, has no cost there; it is borrowed from where it comes nearest, and a note says so.
class Prices {
 public:
  /// `others` are the tables to borrow from, `table` among them or not.
  Prices(const CostTable& table, std::span<const CostTable> others);

  /// Nothing where the operation has no cost, or something that it counted has none anywhere.
  std::optional<Prediction> predict(Operation operation, const Counters& counted);

  /// What a reader of the predictions so far has to know.
  std::vector<std::string> notes() const;

 private:
  struct Borrowed {
    double cost = 0;
    std::string from;  // "as 6.1", "as what the cheapest …"
  };
  std::optional<Borrowed> borrow(Operation operation, Counter counter) const;
  std::optional<Borrowed> cheapest_visit() const;

  CostTable table_;
  std::vector<CostTable> others_;  // of the same architecture, the nearest first
  /// Asked for so far, by operation and counter.
  std::array<std::array<std::optional<Borrowed>, kCounters>, kOperations> borrowed_;
};

}  // namespace faultline::cost
