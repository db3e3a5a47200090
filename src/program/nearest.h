#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace faultline::program {

/// Gathers, among the names offered, those that a misspelt name most likely meant: the ones at the smallest edit
/// distance (insertion, deletion, substitution, exchange of neighbours), if that is at most a third of its length.
class Nearest {
 public:
  explicit Nearest(std::string_view misspelt) : misspelt_(misspelt) {}

  /// `candidate` must outlive this object.
  void offer(std::string_view candidate);

  /// Was the name itself offered?
  bool knows_it() const { return best_ == 0 && !best_names_.empty(); }
  /// ": did you mean 'mlock' or 'mlock2'?", at most three names; `otherwise` when nothing is near.
  std::string suggestion(std::string_view otherwise = "") const;

 private:
  std::string_view misspelt_;
  std::size_t best_ = 0;  // distance of the names in best_names_
  std::vector<std::string_view> best_names_;
};

}  // namespace faultline::program
