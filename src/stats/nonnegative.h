#pragma once

#include <span>
#include <vector>

/// A response as a sum of terms of which none may be negative: costs.
namespace faultline::stats {

/// The coefficients, one for each column and none below 0, for which the sum of squared distances between the response
/// and the sum of the columns is least (Lawson and Hanson). Each column is as long as the response. A column that is a
/// sum of others gets 0, unless it fits better than they do; so does one of nothing but zeroes. Always the same for the
/// same input.
std::vector<double> nonnegative_least_squares(std::span<const std::vector<double>> columns,
                                              std::span<const double> response);

}  // namespace faultline::stats
