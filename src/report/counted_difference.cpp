#include "report/counted_difference.h"

#include <fmt/format.h>

#include <optional>

#include "report/cell.h"
#include "report/format.h"

namespace faultline::report {
namespace {

bool knows(const run::Row& row, std::size_t counter) { return row.counted_calls > 0 && row.known.test(counter); }

void add_shape(std::vector<CountedDifference>& found, const char* what, const std::optional<std::uint64_t>& a,
               const std::optional<std::uint64_t>& b) {
  if (a && b && *a != *b) found.push_back({what, thousands(*a), thousands(*b)});
}

}  // namespace

bool same_per_call(const run::Row& a, const run::Row& b, Counter counter) {
  __extension__ using Wide = unsigned __int128;
  return Wide{a.counted[counter]} * b.counted_calls == Wide{b.counted[counter]} * a.counted_calls;
}

std::vector<CountedDifference> counted_differences(const run::Row& first, const run::Row& second) {
  std::vector<CountedDifference> found;
  if (first.failures != second.failures) {
    found.push_back({"calls that failed", thousands(first.failures), thousands(second.failures)});
  }
  for (std::size_t i = 0; i < kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (!knows(first, i) || !knows(second, i) || same_per_call(first, second, counter)) continue;
    found.push_back({std::string(counter_title(counter)), count(&first, counter), count(&second, counter)});
  }
  add_shape(found, "VMAs after", first.after.vmas, second.after.vmas);
  add_shape(found, "pages present after", first.after.present, second.after.present);
  add_shape(found, "pages writable after", first.after.writable, second.after.writable);
  add_shape(found, "huge pages after", first.after.huge, second.after.huge);
  return found;
}

}  // namespace faultline::report
