#include "stats/nonnegative.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace faultline::stats {
namespace {

using Vector = std::vector<double>;
using Columns = std::vector<Vector>;

double scalar_product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Solves the normal equations of some of the columns; nothing where those do not determine the solution.
std::optional<Vector> solve(const Columns& products, const Vector& moments, const std::vector<std::size_t>& chosen) {
  const std::size_t n = chosen.size();
  Columns m(n, Vector(n + 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) m[i][j] = products[chosen[i]][chosen[j]];
    m[i][n] = moments[chosen[i]];
  }
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < n; ++row) {
      if (std::abs(m[row][column]) > std::abs(m[pivot][column])) pivot = row;
    }
    // The columns have length 1, so this is a relative measure.
    constexpr double kSingular = 1e-9;
    if (std::abs(m[pivot][column]) < kSingular) return std::nullopt;
    std::swap(m[pivot], m[column]);
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = m[row][column] / m[column][column];
      for (std::size_t i = column; i <= n; ++i) m[row][i] -= factor * m[column][i];
    }
  }
  Vector solution(n);
  for (std::size_t i = 0; i < n; ++i) solution[i] = m[i][n] / m[i][i];
  return solution;
}

class ActiveSet {
 public:
  ActiveSet(std::span<const Vector> columns, std::span<const double> response) : x_(columns.size()) {
    Columns scaled(columns.begin(), columns.end());
    for (Vector& column : scaled) {
      const double length = std::sqrt(scalar_product(column, column));
      lengths_.push_back(length);
      if (length > 0) {
        for (double& value : column) value /= length;
      }
    }
    for (const Vector& a : scaled) {
      Vector row;
      for (const Vector& b : scaled) row.push_back(scalar_product(a, b));
      products_.push_back(std::move(row));
      moments_.push_back(scalar_product(a, response));
    }
    refused_.resize(x_.size());
  }

  Vector solve_all() && {
    while (const auto next = steepest()) {
      // A column that the chosen ones make up cannot join them, as long as they are chosen.
      if (descend(*next)) {
        refused_.assign(x_.size(), false);
      } else {
        refused_[*next] = true;
      }
    }
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = lengths_[i] > 0 ? x_[i] / lengths_[i] : 0;
    return std::move(x_);
  }

 private:
  /// The column that is not chosen yet and would lessen the distance most.
  std::optional<std::size_t> steepest() const {
    std::optional<std::size_t> best;
    constexpr double kFlat = 1e-9;
    double most = kFlat;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (refused_[i] || lengths_[i] == 0 || std::ranges::find(chosen_, i) != chosen_.end()) continue;
      const double slope = moments_[i] - scalar_product(products_[i], x_);
      if (slope > most) {
        most = slope;
        best = i;
      }
    }
    return best;
  }

  /// Goes to the best point of the chosen columns and a new one, giving up those that would become negative on the way.
  /// False, and nothing changes, where the new one cannot stay.
  bool descend(std::size_t added) {
    Vector x = x_;
    std::vector<std::size_t> chosen = chosen_;
    chosen.push_back(added);
    for (;;) {
      const auto target = solve(products_, moments_, chosen);
      if (!target || (*target)[chosen.size() - 1] <= 0) return false;
      double step = 1;
      std::size_t leaving = chosen.size();
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const double from = x[chosen[i]];
        const double to = (*target)[i];
        if (to > 0 || from / (from - to) >= step) continue;
        step = from / (from - to);
        leaving = i;
      }
      for (std::size_t i = 0; i < chosen.size(); ++i) x[chosen[i]] += step * ((*target)[i] - x[chosen[i]]);
      if (leaving == chosen.size()) break;
      x[chosen[leaving]] = 0;
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(leaving));
    }
    x_ = std::move(x);
    chosen_ = std::move(chosen);
    return true;
  }

  Vector x_;  // of the columns scaled to length 1
  Vector lengths_;
  Columns products_;
  Vector moments_;
  std::vector<std::size_t> chosen_;
  std::vector<bool> refused_;
};

}  // namespace

std::vector<double> nonnegative_least_squares(std::span<const std::vector<double>> columns,
                                              std::span<const double> response) {
  return ActiveSet(columns, response).solve_all();
}

}  // namespace faultline::stats
