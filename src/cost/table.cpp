#include "cost/table.h"

#include <algorithm>

namespace faultline::cost {

CounterSet priced() {
  CounterSet all = CounterSet().set();
  for (const Counter repeated : {Counter::exceptions, Counter::minor_faults, Counter::seal_checks,
                                 Counter::mmap_lock_write, Counter::vma_lock}) {
    all.reset(std::to_underlying(repeated));
  }
  return all;
}

std::uint64_t occurrences(const Counters& counted, Counter counter) {
  if (counter == Counter::vma_visits) return counted[counter] - counted[Counter::vmas_checked];
  // The lock that a fault takes which is given up is a part of that fault.
  if (counter == Counter::mmap_lock_read)
    return counted[counter] - std::min(counted[counter], counted[Counter::fault_signal]);
  return counted[counter];
}

}  // namespace faultline::cost
