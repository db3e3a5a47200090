// Fits of a response to several terms.
#include "stats/least_squares.h"

#include <gtest/gtest.h>

namespace faultline::stats {
namespace {

TEST(LeastSquares, FindsTheTermsOfAnExactLaw) {
  const std::vector<std::vector<double>> columns{{1, 1, 1, 1, 1}, {1, 8, 64, 1, 8}, {1, 1, 1, 4, 4}};
  std::vector<double> response;
  for (std::size_t i = 0; i < 5; ++i) response.push_back(3100 + 151.5 * columns[1][i] + 420 * columns[2][i]);
  const auto fit = least_squares(columns, response);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->terms[0].coefficient, 3100, 1e-6);
  EXPECT_NEAR(fit->terms[1].coefficient, 151.5, 1e-6);
  EXPECT_NEAR(fit->terms[2].coefficient, 420, 1e-6);
  EXPECT_NEAR(fit->largest_residual, 0, 1e-6);
}

// Solved by hand: y = x with an error of +1, -2, +1 around it has slope 1, intercept 0, and the squares of residuals
// sum to 6.
TEST(LeastSquares, GivesTheIntervalOfStudentsT) {
  const std::vector<std::vector<double>> columns{{1, 1, 1}, {-1, 0, 1}};
  const std::vector<double> response{0, -2, 2};
  const auto fit = least_squares(columns, response);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->terms[0].coefficient, 0, 1e-12);
  EXPECT_NEAR(fit->terms[1].coefficient, 1, 1e-12);
  EXPECT_NEAR(fit->largest_residual, 2, 1e-12);
  // sqrt(6 / 2) * t(0.975, 1 degree) = 1.7321 * 12.7062
  EXPECT_NEAR(fit->terms[1].half_width, 22.008, 0.001);
}

TEST(LeastSquares, RefusesWhatDoesNotDetermineTheTerms) {
  EXPECT_FALSE(least_squares(std::vector<std::vector<double>>{{1, 1, 1}, {5, 5, 5}}, std::vector<double>{1, 2, 3}));
  EXPECT_FALSE(least_squares(std::vector<std::vector<double>>{{1, 1}, {1, 2}}, std::vector<double>{1, 2}));
  EXPECT_FALSE(least_squares(std::vector<std::vector<double>>{}, std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace faultline::stats
