#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace faultline::program {

/// A name that a program may use in place of its number.
struct Constant {
  std::string_view name;
  std::uint64_t value = 0;
};

/// What perm(addr) gives where nothing is mapped.
inline constexpr std::uint64_t kUnmapped = ~std::uint64_t{0};

/// Every constant: the flags of the system calls (values of the Linux ABI, as x86-64 and arm64 have them), the error
/// names of errno(3) as positive numbers, NULL, PAGE (bytes in a page) and UNMAPPED.
std::span<const Constant> constants();

std::optional<std::uint64_t> constant_named(std::string_view name);

}  // namespace faultline::program
