#include "program/nearest.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace faultline::program {
namespace {

constexpr std::size_t kLongest = 64;  // longer names are nobody's typing error
constexpr std::size_t kMostNames = 3;

/// Optimal string alignment distance of two names of at most kLongest characters.
std::size_t distance(std::string_view a, std::string_view b) {
  using Line = std::array<std::size_t, kLongest + 1>;
  Line before_last{};
  Line last{};
  Line line{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    line[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      line[j] = std::min({last[j] + 1, line[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        line[j] = std::min(line[j], before_last[j - 2] + 1);
      }
    }
    before_last = last;
    last = line;
  }
  return last[b.size()];
}

}  // namespace

void Nearest::offer(std::string_view candidate) {
  const std::size_t limit = std::max<std::size_t>(1, misspelt_.size() / 3);
  const std::size_t longer = std::max(misspelt_.size(), candidate.size());
  const std::size_t shorter = std::min(misspelt_.size(), candidate.size());
  if (longer > kLongest || longer - shorter > limit) return;
  const std::size_t d = distance(misspelt_, candidate);
  if (d > limit || (!best_names_.empty() && d > best_)) return;
  if (d < best_) best_names_.clear();
  best_ = d;
  if (std::ranges::find(best_names_, candidate) == best_names_.end()) best_names_.push_back(candidate);
}

std::string Nearest::suggestion(std::string_view otherwise) const {
  if (best_names_.empty()) return std::string(otherwise);
  const std::size_t count = std::min(best_names_.size(), kMostNames);
  std::string text = ": did you mean ";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += i + 1 == count ? " or " : ", ";
    text += "'" + std::string(best_names_[i]) + "'";
  }
  return text + "?";
}

}  // namespace faultline::program
