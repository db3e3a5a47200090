// Fits whose coefficients may not be negative: they recover what the response was made of, and no less than nothing.
#include "stats/nonnegative.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace faultline::stats {
namespace {

using Columns = std::vector<std::vector<double>>;

double distance(const Columns& columns, const std::vector<double>& coefficients, const std::vector<double>& response) {
  double squares = 0;
  for (std::size_t k = 0; k < response.size(); ++k) {
    double residual = response[k];
    for (std::size_t i = 0; i < columns.size(); ++i) residual -= coefficients[i] * columns[i][k];
    squares += residual * residual;
  }
  return squares;
}

TEST(NonnegativeLeastSquares, RecoversCoefficientsThatAreNotNegative) {
  const Columns columns{{1, 1, 1, 1, 1}, {1, 2, 4, 8, 16}, {3, 0, 5, 1, 2}};
  std::vector<double> response;
  for (std::size_t i = 0; i < 5; ++i) response.push_back(700 + 31 * columns[1][i] + 12 * columns[2][i]);
  const auto found = nonnegative_least_squares(columns, response);
  EXPECT_NEAR(found[0], 700, 1e-6);
  EXPECT_NEAR(found[1], 31, 1e-6);
  EXPECT_NEAR(found[2], 12, 1e-6);
}

TEST(NonnegativeLeastSquares, GivesZeroWhereOrdinaryLeastSquaresWouldGiveLess) {
  // 10 - 2·k: the best that does not fall is the mean.
  const auto found = nonnegative_least_squares(Columns{{1, 1, 1}, {1, 2, 3}}, std::vector<double>{8, 6, 4});
  EXPECT_NEAR(found[0], 6, 1e-9);
  EXPECT_EQ(found[1], 0);
}

TEST(NonnegativeLeastSquares, GivesAColumnThatOthersMakeUpNothing) {
  const auto found =
      nonnegative_least_squares(Columns{{1, 1, 1}, {1, 2, 5}, {2, 4, 10}, {0, 0, 0}}, std::vector<double>{5, 7, 13});
  EXPECT_NEAR(found[0], 3, 1e-9);
  EXPECT_NEAR(found[1] + 2 * found[2], 2, 1e-9);
  EXPECT_EQ(found[3], 0);
}

TEST(NonnegativeLeastSquares, FitsNothingToNothing) {
  EXPECT_TRUE(nonnegative_least_squares({}, {}).empty());
  EXPECT_EQ(nonnegative_least_squares(Columns{{1, 2}}, std::vector<double>{-1, -2}), std::vector<double>{0});
}

TEST(NonnegativeLeastSquares, IsNeverNegativeAndNoStepFromItIsBetter) {
  EXPECT_TRUE(rc::check([] {
    const auto n = *rc::gen::inRange<std::size_t>(1, 6);
    const auto rows = *rc::gen::inRange<std::size_t>(n, 20);
    const auto values = [&](int limit) {
      std::vector<double> column;
      for (std::size_t k = 0; k < rows; ++k) column.push_back(*rc::gen::inRange(0, limit));
      return column;
    };
    Columns columns;
    for (std::size_t i = 0; i < n; ++i) columns.push_back(values(20));
    const auto response = values(1000);
    const auto found = nonnegative_least_squares(columns, response);
    const double best = distance(columns, found, response);
    for (std::size_t i = 0; i < n; ++i) {
      RC_ASSERT(found[i] >= 0);
      for (const double step : {-0.01, 0.01}) {
        auto moved = found;
        moved[i] = std::max(0.0, moved[i] + step);
        RC_ASSERT(distance(columns, moved, response) >= best - 1e-6 * (1 + best));
      }
    }
  }));
}

}  // namespace
}  // namespace faultline::stats
