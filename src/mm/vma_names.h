#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace faultline::mm {

/// A name that PR_SET_VMA_ANON_NAME gave (anon_vma_name), by its number in VmaNames; equal names have equal numbers.
using VmaName = std::uint8_t;
inline constexpr VmaName kUnnamed = 0;

/// The names that a machine's VMAs have or had. They are never given back: programs use few.
class VmaNames {
 public:
  /// Nothing when there are 255 others already.
  std::optional<VmaName> number(std::string_view text);
  /// Empty for kUnnamed.
  std::string_view text(VmaName name) const { return name == kUnnamed ? std::string_view{} : texts_[name - 1U]; }

 private:
  std::deque<std::string> texts_;
  absl::flat_hash_map<std::string_view, VmaName> numbers_;
};

}  // namespace faultline::mm
