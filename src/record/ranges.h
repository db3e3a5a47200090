#pragma once

#include <map>
#include <vector>

#include "base/page.h"

namespace faultline::record {

/// A set of addresses, as disjoint ranges.
class Ranges {
 public:
  void add(Range range);
  void remove(Range range);
  /// The parts of the range that are in the set, in order of address.
  std::vector<Range> overlapping(Range range) const;

 private:
  std::map<Addr, Addr> ends_;  // by start
};

}  // namespace faultline::record
