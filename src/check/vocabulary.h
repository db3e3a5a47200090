#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// The arguments that are drawn, as often as they stand here, and how a program writes them. What is left out, and why,
/// stands in docs/differences.md.
namespace faultline::check {

struct Named {
  std::string_view name;
  std::uint64_t value = 0;
};

std::span<const Named> protections();
std::span<const Named> odd_protections();
/// Of mmap: for anonymous memory, and for a file.
std::span<const Named> anonymous_flags();
/// Its first for shared memory.
inline constexpr std::size_t kSharedAnonymous = 7;
std::span<const Named> file_flags();
std::span<const Named> advice();
std::span<const Named> huge_advice();
std::span<const Named> remap_flags();
std::span<const Named> sync_flags();
std::span<const Named> lock_all_flags();
std::span<const Named> memfd_flags();
std::span<const Named> file_seals();
std::span<const Named> resources();
std::span<const Named> userfaultfd_flags();
std::span<const Named> userfaultfd_features();
std::span<const Named> register_modes();
std::span<const Named> protect_modes();
std::span<const Named> fill_modes();

}  // namespace faultline::check
