#include "stats/many.h"

#include <algorithm>
#include <numeric>

namespace faultline::stats {

std::vector<double> corrected(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  std::vector<double> result(p.size());
  double least = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto rank = static_cast<double>(order.size() - i);
    least = std::min(least, p[order[i]] * static_cast<double>(order.size()) / rank);
    result[order[i]] = least;
  }
  return result;
}

}  // namespace faultline::stats
