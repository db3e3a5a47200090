#include "mm/vma_names.h"

#include <limits>

namespace faultline::mm {

std::optional<VmaName> VmaNames::number(std::string_view text) {
  if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
  if (texts_.size() == std::numeric_limits<VmaName>::max()) return std::nullopt;
  texts_.emplace_back(text);
  return numbers_[texts_.back()] = static_cast<VmaName>(texts_.size());
}

}  // namespace faultline::mm
