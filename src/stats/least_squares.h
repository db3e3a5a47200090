#pragma once

#include <optional>
#include <span>
#include <vector>

/// A response as a sum of terms, by ordinary least squares.
namespace faultline::stats {

struct Term {
  double coefficient = 0;
  /// Half of the 95% interval, by Student's t with as many degrees of freedom as there are observations more than
  /// terms.
  double half_width = 0;
};

struct Fit {
  std::vector<Term> terms;      // in the order of the columns
  double largest_residual = 0;  // the largest distance of an observation from the fit
};

/// Fits `response` to the columns, each as long as it. Nothing where there are not more observations than columns, or
/// where the columns do not determine the coefficients (one that is constant beside a constant).
std::optional<Fit> least_squares(std::span<const std::vector<double>> columns, std::span<const double> response);

}  // namespace faultline::stats
