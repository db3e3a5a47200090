#pragma once

#include <span>
#include <vector>

namespace faultline::stats {

/// p-values corrected for being many, after Benjamini and Hochberg ("Controlling the False Discovery Rate", 1995): in
/// the order given. Calling different whatever is at most α here, at most a share α of what is so called is expected to
/// be called so wrongly; and where nothing differs at all, the chance of any call is at most α. Holds for independent
/// tests and for tests that err together (Benjamini and Yekutieli, 2001), as rows of one run do.
std::vector<double> corrected(std::span<const double> p);

}  // namespace faultline::stats
