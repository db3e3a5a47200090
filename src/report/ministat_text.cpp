// Two sets of samples in the words of ministat(1), which kernel developers paste into mails.
#include <fmt/format.h>

#include "report/compare_text.h"
#include "stats/means.h"
#include "stats/summary.h"

namespace faultline::report {
namespace {

std::string vitals(char symbol, const stats::Summary& summary) {
  return fmt::format("{} {:3} {:13.8g} {:13.8g} {:13.8g} {:13.8g} {:13.8g}\n", symbol, summary.n, summary.min,
                     summary.max, summary.median, summary.mean, summary.sd);
}

}  // namespace

std::string ministat_text(std::span<const double> first, std::span<const double> second, double confidence) {
  if (first.size() < stats::kFewestSamples || second.size() < stats::kFewestSamples) return {};
  const stats::Summary before = *stats::summarise(first);
  const stats::Summary after = *stats::summarise(second);
  std::string text = "    N           Min           Max        Median           Avg        Stddev\n";
  text += vitals('x', before) + vitals('+', after);
  const auto found = stats::pooled_difference(before, after, confidence);
  if (!found || !found->proven()) {
    return text + fmt::format("No difference proven at {:.1f}% confidence\n", confidence * 100);
  }
  return text + fmt::format("Difference at {:.1f}% confidence\n     {:g} +/- {:g}\n     {:g}% +/- {:g}%\n",
                            confidence * 100, found->difference, found->half_width, found->percent,
                            found->percent_half_width);
}

}  // namespace faultline::report
