#include "stats/change.h"

#include "stats/summary.h"

namespace faultline::stats {

std::optional<Change> change_of_medians(std::span<const double> first, std::span<const double> second,
                                        double confidence) {
  const std::optional<double> before = median(first);
  const std::optional<double> after = median(second);
  if (!before || !after || *before <= 0) return std::nullopt;
  Change change{.difference = *after - *before,
                .ratio = *after / *before,
                .ratio_interval = std::nullopt,
                .verdict = Verdict::not_proven};

  const double each = 1 - (1 - confidence) / 2;
  const std::optional<Interval> a = median_interval(first, each);
  const std::optional<Interval> b = median_interval(second, each);
  // An interval that reaches down to 0 or below leaves the ratio without an upper end.
  if (!a || !b || a->low <= 0) return change;
  const double covered = 1 - (1 - a->confidence) - (1 - b->confidence);
  change.ratio_interval = Interval{.low = b->low / a->high, .high = b->high / a->low, .confidence = covered};
  if (covered >= confidence && !change.ratio_interval->contains(1)) change.verdict = Verdict::different;
  return change;
}

}  // namespace faultline::stats
