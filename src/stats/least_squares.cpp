#include "stats/least_squares.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

namespace faultline::stats {
namespace {

using Matrix = std::vector<std::vector<double>>;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The inverse by Gauss and Jordan with the largest pivot; nothing for a singular matrix.
std::optional<Matrix> inverse(Matrix matrix) {
  const std::size_t n = matrix.size();
  Matrix result(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) result[i][i] = 1;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < n; ++row) {
      if (std::abs(matrix[row][column]) > std::abs(matrix[pivot][column])) pivot = row;
    }
    // The columns were scaled to length 1, so this is a relative measure.
    constexpr double kSingular = 1e-10;
    if (std::abs(matrix[pivot][column]) < kSingular) return std::nullopt;
    std::swap(matrix[pivot], matrix[column]);
    std::swap(result[pivot], result[column]);
    const double scale = matrix[column][column];
    for (std::size_t i = 0; i < n; ++i) {
      matrix[column][i] /= scale;
      result[column][i] /= scale;
    }
    for (std::size_t row = 0; row < n; ++row) {
      const double factor = row == column ? 0 : matrix[row][column];
      for (std::size_t i = 0; i < n; ++i) {
        matrix[row][i] -= factor * matrix[column][i];
        result[row][i] -= factor * result[column][i];
      }
    }
  }
  return result;
}

}  // namespace

std::optional<Fit> least_squares(std::span<const std::vector<double>> columns, std::span<const double> response) {
  const std::size_t n = columns.size();
  if (n == 0 || response.size() <= n) return std::nullopt;
  Matrix scaled(columns.begin(), columns.end());
  std::vector<double> lengths;
  for (std::vector<double>& column : scaled) {
    const double length = std::sqrt(dot(column, column));
    if (length == 0) return std::nullopt;
    for (double& value : column) value /= length;
    lengths.push_back(length);
  }
  Matrix products(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) products[i][j] = dot(scaled[i], scaled[j]);
  }
  const auto inverted = inverse(products);
  if (!inverted) return std::nullopt;

  Fit fit;
  for (std::size_t i = 0; i < n; ++i) {
    double coefficient = 0;
    for (std::size_t j = 0; j < n; ++j) coefficient += (*inverted)[i][j] * dot(scaled[j], response);
    fit.terms.push_back({coefficient / lengths[i], 0});
  }
  double squares = 0;
  for (std::size_t k = 0; k < response.size(); ++k) {
    double residual = response[k];
    for (std::size_t i = 0; i < n; ++i) residual -= fit.terms[i].coefficient * columns[i][k];
    squares += residual * residual;
    fit.largest_residual = std::max(fit.largest_residual, std::abs(residual));
  }
  const auto freedom = static_cast<double>(response.size() - n);
  const double t = boost::math::quantile(boost::math::students_t(freedom), 0.975);
  for (std::size_t i = 0; i < n; ++i) {
    fit.terms[i].half_width = t * std::sqrt(squares / freedom * std::max(0.0, (*inverted)[i][i])) / lengths[i];
  }
  return fit;
}

}  // namespace faultline::stats
